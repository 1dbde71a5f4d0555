/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight threads on up to four devices: each does the steps of an application, one after the other on one device after
 * the other, and copies between them. For ThreadSanitizer, and for whether everybody gets the right numbers.
 */
#include "steps.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: attack_threads ROUNDS [--plugin FILE]... DEVICE...\n"
    "\n"
    "Eight threads do ROUNDS steps each on these devices, and copy between them.\n";

#define THREADS 8
#define DEVICES_MOST 4
#define COUNT 64

static const char *devices[DEVICES_MOST];
static unsigned device_count, rounds;
static atomic_uint findings;

/* A tensor goes from one device to another, and comes back at once and in stream order. */
static kw_status copy_between(const char *from, const char *to) {
  kw_device *first = NULL, *second = NULL;
  kw_tensor *tensor = NULL, *there = NULL, *back = NULL;
  int32_t numbers[COUNT], got[COUNT] = {0};
  const int64_t shape[] = {COUNT};
  for (int i = 0; i < COUNT; i++) numbers[i] = i;
  kw_status status = kw_device_open(from, &first);
  if (status == KW_OK) status = kw_device_open(to, &second);
  if (status == KW_OK) status = kw_tensor_create(first, KW_I32, 1, shape, &tensor);
  if (status == KW_OK) status = kw_tensor_write(tensor, numbers);
  if (status == KW_OK) status = kw_tensor_to(tensor, second, &there);
  if (status == KW_OK) status = kw_tensor_create(first, KW_I32, 1, shape, &back);
  if (status == KW_OK) status = kw_tensor_copy_async(back, NULL, there, NULL);
  if (status == KW_OK) status = kw_tensor_read(back, got);
  if (status == KW_OK && memcmp(got, numbers, sizeof got) != 0) status = STEP_WRONG;
  snprintf(step_where, sizeof step_where, "a copy to %s", to);
  snprintf(step_message, sizeof step_message, "%s", kw_error_message());
  kw_tensor_release(back);
  kw_tensor_release(there);
  kw_tensor_release(tensor);
  if (second != NULL) kw_device_close(second);
  if (first != NULL) kw_device_close(first);
  return status;
}

/* Of the steps that several threads may do at once, the n-th, again and again. */
static const attack_step *step_of(unsigned n) {
  unsigned count = 0;
  for (const attack_step *step = attack_steps; step->name != NULL; step++) count += step->together;
  n %= count;
  const attack_step *step = attack_steps;
  while (!step->together || n-- > 0) step++;
  return step;
}

static void *work(void *user) {
  const unsigned thread = (unsigned)(uintptr_t)user;
  for (unsigned round = 0; round < rounds; round++) {
    step_device = devices[(thread + round) % device_count];
    const attack_step *step = step_of(thread * 3 + round);
    kw_status status = step->run();
    const char *name = step->name;
    if (status == KW_OK || status == KW_ERR_NOT_IMPLEMENTED) {
      name = "between";
      status = copy_between(step_device, devices[(thread + round / device_count + 1) % device_count]);
    }
    if (status == KW_OK) continue;
    findings++;
    fprintf(stderr, "%s on %s, round %u of thread %u: %s at %s: %s\n", name, step_device, round, thread,
            status == STEP_WRONG ? "wrong" : kw_status_name(status), step_where, step_message);
  }
  return NULL;
}

int main(int argc, char **argv) {
  rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
  for (int i = 2; i < argc; i++) {
    const bool plugin = strcmp(argv[i], "--plugin") == 0 && i + 1 < argc;
    if (plugin && kw_plugin_load(argv[++i]) != KW_OK) {
      fprintf(stderr, "attack_threads: %s\n", kw_error_message());
      return 2;
    }
    if (!plugin && device_count < DEVICES_MOST) devices[device_count++] = argv[i];
  }
  if (rounds == 0 || device_count == 0) {
    fputs(usage, stderr);
    return 2;
  }
  kw_fallback_set(KW_FALLBACK_ALLOW);
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) abort();
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%d threads, %u devices, %u rounds each: %u findings\n", THREADS, device_count, rounds, findings);
  return findings == 0 ? 0 : 1;
}

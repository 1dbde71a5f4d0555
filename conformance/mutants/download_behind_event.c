/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy to the host goes by way of a buffer of the driver's, out of which only waiting for the stream stores it: who
 * waits for an event finds the old contents. After DyNet pull request 332 and lupine pull request 631: copies to
 * ordinary memory of the host were not there yet for who read them after the call that was to wait.
 */
#include "mutant.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct staged {
  void *stream, *to, *bytes;
  size_t size;
  uint64_t number; /* how many there were before */
  struct staged *next;
} staged;

/* What a stream has had when something was enqueued behind it. */
typedef struct mark {
  const void *stream;
  uint64_t count;
} mark;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static staged *first;
static uint64_t count;

static mark now(const void *stream) {
  pthread_mutex_lock(&lock);
  const mark of = {stream, count};
  pthread_mutex_unlock(&lock);
  return of;
}

/* What came before the mark, and is done. */
static void store(mark of) {
  pthread_mutex_lock(&lock);
  for (staged **at = &first; *at;) {
    staged *one = *at;
    if (one->stream != of.stream || one->number >= of.count) {
      at = &one->next;
      continue;
    }
    memcpy(one->to, one->bytes, one->size);
    *at = one->next;
    free(one->bytes);
    free(one);
  }
  pthread_mutex_unlock(&lock);
}

static void store_in_turn(void *user) {
  store(*(const mark *)user);
  free(user);
}

/* Whoever is enqueued next finds all that was copied before. */
static kw_status enqueue_store(void *device, void *stream) {
  mark *of = malloc(sizeof *of);
  if (!of) return KW_ERR_OUT_OF_MEMORY;
  *of = now(stream);
  return kw_mutant_enqueue(device, stream, store_in_turn, of);
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  if (info->kind != KW_COPY_DEVICE_TO_HOST) {
    kw_status status = info->kind == KW_COPY_HOST_TO_DEVICE ? enqueue_store(device, stream) : KW_OK;
    return status == KW_OK ? kw_mutant_real.memory.copy(device, stream, info) : status;
  }
  staged *one = malloc(sizeof *one);
  void *bytes = malloc(info->size);
  if (!one || !bytes) abort();
  kw_copy_info changed = *info;
  changed.dst_host = bytes;
  pthread_mutex_lock(&lock);
  *one = (staged){stream, info->dst_host, bytes, info->size, count++, NULL};
  staged **end = &first;
  while (*end) end = &(*end)->next;
  *end = one;
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  const mark of = now(stream);
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  if (status == KW_OK) store(of);
  return status;
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  kw_status status = enqueue_store(device, stream);
  return status == KW_OK ? kw_mutant_real.stream.call_host(device, stream, token) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
  mutant->stream.synchronize = synchronize;
  mutant->stream.call_host = call_host;
}

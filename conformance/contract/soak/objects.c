/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: streams, threads of the host and whole devices that come and go. What they computed is looked at.
 */
#include "soak.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { BLOCK = 500, FEW = 10, LEAST = 64 };

static kw_soak_call call;

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

/* Each does one thing. */
static void run_streams(void *user, uint64_t first, uint64_t count) {
  (void)user;
  kw_soak_call_clear(&call, count);
  for (uint64_t i = 0; i < count; i++) {
    kw_stream *stream = NULL;
    kw_status status = kw_stream_create(kw_contract.device, &stream);
    if (status == KW_OK) status = kw_soak_call_run(&call, stream, i);
    if (status == KW_OK) status = kw_stream_destroy(stream);
    KW_CHECK(status == KW_OK, "stream %s, the others before it being gone, gave %s: %s", kw_soak_number(first + i + 1),
             kw_status_name(status), kw_error_message());
  }
  kw_soak_call_check(&call, count, "stream", first);
}

void kw_soak_streams(uint64_t first, uint64_t count) {
  kw_soak_call_make(BLOCK, &call);
  const kw_soak_work work = {
      .objects = "streams", .first = first, .count = count, .block = BLOCK, .least = LEAST, .run = run_streams};
  kw_soak_run(&work);
  kw_soak_call_free(&call);
}

/* Stream after stream. */
void kw_contract_soak_streams(void **state) {
  (void)state;
  kw_soak_streams(0, kw_soak_count(250, 33000, 70000));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static struct {
  kw_stream *stream;
  uint64_t place;
  kw_status status;
  char text[300];
} visitor;

/* Some of them get host memory, too, which is slow to come by. */
static void *visit(void *unused) {
  enum { GETS_MEMORY = 4, HOST_SIZE = 5000 };
  void *memory = NULL;
  visitor.status = kw_soak_call_run(&call, visitor.stream, visitor.place);
  if (visitor.status == KW_OK) visitor.status = kw_stream_synchronize(visitor.stream);
  if (visitor.place % GETS_MEMORY == 0) {
    if (visitor.status == KW_OK) visitor.status = kw_host_alloc(kw_contract.device, HOST_SIZE, &memory);
    if (visitor.status == KW_OK) visitor.status = kw_host_free(kw_contract.device, memory);
  }
  if (visitor.status != KW_OK) snprintf(visitor.text, sizeof visitor.text, "%s", kw_error_message());
  return unused;
}

static void run_threads(void *user, uint64_t first, uint64_t count) {
  visitor.stream = user;
  kw_soak_call_clear(&call, count);
  for (visitor.place = 0; visitor.place < count; visitor.place++) {
    pthread_t thread;
    KW_NEED(pthread_create(&thread, NULL, visit, NULL) == 0, "threads");
    pthread_join(thread, NULL);
    KW_CHECK(visitor.status == KW_OK, "thread %s got %s: %s", kw_soak_number(first + visitor.place + 1),
             kw_status_name(visitor.status), visitor.text);
  }
  kw_soak_call_check(&call, count, "thread", first);
}

/* Threads that use the device once and end: what a plugin keeps for a thread ends with it. */
void kw_contract_soak_threads(void **state) {
  (void)state;
  kw_soak_call_make(BLOCK, &call);
  kw_stream *stream = kw_test_stream();
  const kw_soak_work work = {.objects = "threads that used the device and ended",
                             .count = kw_soak_count(250, 5000, 70000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_threads,
                             .user = stream};
  kw_soak_run(&work);
  KW_CHECK_OK(kw_stream_destroy(stream));
  kw_soak_call_free(&call);
}

/* ---- Opens ------------------------------------------------------------------------------------------------------- */

enum { SIZE = 1000, FEW_OPENS = 50, MANY_OPENS = 300, FIRST_OPENS = 24 };

static void run_opens(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    char what[64];
    KW_CHECK_OK(kw_device_close(kw_contract.device));
    kw_contract.device = NULL;
    kw_status status = kw_device_open(kw_contract.device_name, &kw_contract.device);
    KW_CHECK(status == KW_OK, "open %s gave %s: %s", kw_soak_number(first + i + 1), kw_status_name(status),
             kw_error_message());
    kw_stream *stream = kw_test_stream();
    kw_tensor *bytes = kw_test_bytes(SIZE, i);
    snprintf(what, sizeof what, "a round trip after open %s", kw_soak_number(first + i + 1));
    kw_test_expect_bytes(bytes, i, what);
    kw_tensor_release(bytes);
    KW_CHECK_OK(kw_stream_destroy(stream));
  }
}

static void soak_opens(uint64_t normal) {
  const kw_soak_work work = {.objects = "opens of the device",
                             .count = kw_soak_count(10, normal, 12500),
                             .block = FEW,
                             .least = 1024, /* a driver's context is large, and drivers of others' lose some bytes */
                             .run = run_opens};
  /* A heap in which large aligned blocks come and go finds its size in some twenty opens: the emulated CUDA driver's
   * grows by 2 MiB at most of them until then, and not once in the hundred behind. */
  run_opens(NULL, 0, FIRST_OPENS);
  kw_soak_run(&work);
}

/* Whether opening takes this process next to no time: compiling, or a driver's own start, takes thousands times more.
 */
static bool opens_at_once(void) {
  const clock_t begun = clock();
  run_opens(NULL, 0, FEW);
  return clock() - begun < CLOCKS_PER_SEC / 20;
}

/* The device, opened and closed again and again; where that costs nothing more often than a byte counts. */
void kw_contract_soak_opens(void **state) {
  (void)state;
  soak_opens(kw_contract.effort == KW_EFFORT_NORMAL && opens_at_once() ? MANY_OPENS : FEW_OPENS);
}

/* The same of the plugin's other devices, this one being open. */
void kw_contract_soak_opens_of_others(void **state) {
  (void)state;
  enum { MOST = 2 };
  kw_device *const own = kw_contract.device;
  const char *const own_name = kw_contract.device_name;
  const uint32_t plugin = kw_test_entry().plugin;
  uint32_t count = 0, others = 0;
  KW_CHECK_OK(kw_device_count(&count));
  for (uint32_t i = 0; i < count && others < MOST; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_device *device = NULL;
    KW_CHECK_OK(kw_device_get_entry(i, &entry));
    if (entry.plugin != plugin) continue;
    KW_CHECK_OK(kw_device_open(entry.name, &device));
    if (device == own) {
      KW_CHECK_OK(kw_device_close(device));
      continue;
    }
    kw_contract.device = device; /* what the device holds is asked of this one */
    kw_contract.device_name = entry.name;
    soak_opens(FEW_OPENS);
    KW_CHECK_OK(kw_device_close(kw_contract.device));
    kw_contract.device = own;
    kw_contract.device_name = own_name;
    others++;
  }
  if (others == 0) kw_test_skip("the plugin has one device");
}

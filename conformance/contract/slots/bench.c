/* SPDX-License-Identifier: Apache-2.0
 *
 * A small host with one device, and what tests do there time and again.
 */
#include "bench.h"

#include "contract/kernel_trial.h"

#include "contract/hold.h"

#include <sched.h>
#include <stdio.h>

#define EXPECT_OK(text, call) KW_SLOT_EXPECT(KW_OK, text, call)

enum { FUNCTIONS = 4096, REPORTS = 64 };

struct kw_bench kw_bench;
static kw_host_api host;

typedef struct host_function {
  kw_bench_function fn;
  void *user;
  uint32_t runs;
} host_function;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows: the plugin's threads come here too */
static host_function functions[FUNCTIONS];               /* by token, less 1 */
static uint64_t function_count;
static char wrong_call[128]; /* what the plugin has called that it must not; "" */
static kw_bench_report reports[REPORTS];
static uint32_t report_count;

/* ---- The host's side --------------------------------------------------------------------------------------------- */

static kw_status run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  pthread_mutex_lock(&lock);
  const bool known = token > 0 && token <= function_count;
  const bool good = known && functions[token - 1].runs++ == 0;
  const kw_bench_function fn = good ? functions[token - 1].fn : NULL;
  void *user = good ? functions[token - 1].user : NULL;
  if (!good) {
    snprintf(wrong_call, sizeof wrong_call, "the plugin ran a host function %s",
             known ? "twice" : "that nobody had enqueued");
  }
  pthread_mutex_unlock(&lock);
  if (good) fn(user);
  return good ? KW_OK : KW_ERR_INVALID_ARGUMENT;
}

static kw_status report_async_error(void *ctx, uint64_t token, uint64_t call_id, kw_status status,
                                    const char *message) {
  (void)ctx, (void)message;
  pthread_mutex_lock(&lock);
  if (report_count < REPORTS) {
    reports[report_count++] = (kw_bench_report){.token = token, .call_id = call_id, .status = status};
  }
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

uint32_t kw_bench_reports(kw_bench_report *out_reports, uint32_t room) {
  pthread_mutex_lock(&lock);
  const uint32_t count = report_count;
  for (uint32_t i = 0; i < count && i < room; i++) out_reports[i] = reports[i];
  report_count = 0;
  pthread_mutex_unlock(&lock);
  return count;
}

static void check_quiet(void) {
  char text[sizeof wrong_call];
  pthread_mutex_lock(&lock);
  memcpy(text, wrong_call, sizeof text);
  const kw_bench_report first = reports[0];
  const bool told = report_count > 0;
  pthread_mutex_unlock(&lock);
  KW_CHECK(!*text, "%s", text);
  KW_CHECK(!told, "the plugin told of a late error (%s) of stream %llu, where nothing had failed",
           kw_status_name(first.status), (unsigned long long)first.token);
}

/* ---- A device ---------------------------------------------------------------------------------------------------- */

static void open_device(void) {
  const kw_open_info info = {.struct_size = sizeof info};
  EXPECT_OK("device.open", kw_bench.guest.device->open(kw_bench.plugin, 0, &info, &kw_bench.device));
}

void kw_bench_open(void) {
  const kw_init_info init = {.struct_size = sizeof init};
  kw_bench.guest = kw_guest_load();
  host = kw_guest_host_for(&kw_bench.guest);
  host.run_callback = run_callback;
  host.report_async_error = report_async_error;
  host.register_kernel = kw_guest_keep_kernel;
  EXPECT_OK("init", kw_bench.guest.desc->init(&host, &init, &kw_bench.plugin));
  kw_bench.info.struct_size = sizeof kw_bench.info;
  EXPECT_OK("device.info", kw_bench.guest.device->info(kw_bench.plugin, 0, &kw_bench.info));
  open_device();
}

void kw_bench_reopen(void) {
  EXPECT_OK("device.close", kw_bench.guest.device->close(kw_bench.device));
  open_device();
}

void kw_bench_close(void) {
  EXPECT_OK("device.close", kw_bench.guest.device->close(kw_bench.device));
  EXPECT_OK("shutdown", kw_bench.guest.desc->shutdown(kw_bench.plugin));
  check_quiet();
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

static void *create_stream(uint64_t flags, uint64_t token) {
  const kw_stream_info info = {.struct_size = sizeof info, .flags = flags, .token = token};
  void *stream = NULL;
  KW_SLOT_OK(stream, create, &info, &stream);
  kw_gate_name_stream(stream);
  return stream;
}

void *kw_bench_stream(uint64_t token) {
  return create_stream(0, token);
}

void *kw_bench_default_stream(uint64_t token) {
  void *stream = create_stream(KW_STREAM_DEFAULT, token);
  kw_gate *gate = kw_bench_shut_behind(stream);
  const bool held = kw_gate_await(gate);
  kw_gate_open(gate);
  kw_bench_wait(stream);
  if (held) return stream;
  kw_bench_end_stream(stream);
  return NULL;
}

void kw_bench_end_stream(void *stream) {
  KW_SLOT_OK(stream, destroy, stream);
}

void *kw_bench_event(void) {
  const kw_event_info info = {.struct_size = sizeof info};
  void *event = NULL;
  KW_SLOT_OK(event, create, &info, &event);
  return event;
}

kw_mem kw_bench_memory(uint64_t size) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = 1};
  kw_mem mem = NULL;
  KW_SLOT_OK(memory, alloc, &info, &mem);
  return mem;
}

kw_mem kw_bench_memory_of(kw_mem_kind kind, uint64_t size) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = kind, .size = size, .alignment = 64};
  kw_mem mem = NULL;
  kw_test_calls(__FILE__, __LINE__, "memory.alloc");
  const kw_status status = KW_SLOT(memory, alloc, &info, &mem);
  if (status == KW_ERR_UNSUPPORTED && kind != KW_MEM_DEVICE) return NULL;
  kw_guest_expect(status, KW_OK, "memory.alloc", "called directly");
  return mem;
}

void kw_bench_free(kw_mem mem) {
  KW_SLOT_OK(memory, dealloc, mem);
}

kw_tensor_ref kw_bench_place(kw_tensor_ref tensor, kw_mem mem) {
  const uint32_t alignment = kw_bench.info.mem_alignment;
  return kw_kernel_trial_place(tensor, mem, alignment < 4096 ? alignment : 4096);
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

static kw_status try_copy(void *stream, kw_copy_info info) {
  info.struct_size = sizeof info;
  const kw_status status = KW_SLOT(memory, copy, stream, &info);
  memset(&info, 0xa5, sizeof info); /* the slot's no longer */
  return status;
}

void kw_bench_copy(void *stream, kw_copy_info info) {
  KW_SLOT_EXPECT(KW_OK, "memory.copy", try_copy(stream, info));
}

kw_status kw_bench_try_write(void *stream, kw_mem mem, uint64_t offset, const void *bytes, uint64_t size) {
  return try_copy(
      stream,
      (kw_copy_info){
          .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = mem, .dst_offset = offset, .src_host = bytes, .size = size});
}

kw_status kw_bench_try_read(void *stream, kw_mem mem, uint64_t offset, void *bytes, uint64_t size) {
  return try_copy(
      stream,
      (kw_copy_info){
          .kind = KW_COPY_DEVICE_TO_HOST, .dst_host = bytes, .src_mem = mem, .src_offset = offset, .size = size});
}

void kw_bench_write(void *stream, kw_mem mem, const void *bytes, uint64_t size) {
  KW_SLOT_EXPECT(KW_OK, "memory.copy", kw_bench_try_write(stream, mem, 0, bytes, size));
}

void kw_bench_read(void *stream, kw_mem mem, void *bytes, uint64_t size) {
  KW_SLOT_EXPECT(KW_OK, "memory.copy", kw_bench_try_read(stream, mem, 0, bytes, size));
}

void kw_bench_call(void *stream, kw_bench_function fn, void *user) {
  pthread_mutex_lock(&lock);
  KW_CHECK(function_count < FUNCTIONS, "this test enqueues too many host functions");
  functions[function_count] = (host_function){.fn = fn, .user = user};
  const uint64_t token = ++function_count;
  pthread_mutex_unlock(&lock);
  KW_SLOT_OK(stream, call_host, stream, token);
}

void kw_bench_wait(void *stream) {
  KW_SLOT_OK(stream, synchronize, stream, KW_WAIT_FOREVER);
  check_quiet();
}

void kw_bench_busy(void *stream) {
  enum { SIZE = 64, ROUNDS = 40 };
  static unsigned char sent[SIZE], got[SIZE];
  const kw_mem mem = kw_bench_memory(SIZE);
  kw_gate_expect(stream);
  for (uint64_t i = 0; i < ROUNDS; i++) {
    kw_test_pattern(sent, SIZE, i);
    kw_bench_write(stream, mem, sent, SIZE);
    kw_bench_read(stream, mem, got, SIZE);
    kw_bench_wait(stream);
    kw_test_same(got, sent, SIZE, "a round trip on a stream");
    sched_yield();
  }
  kw_gate_expect(NULL);
  kw_bench_free(mem);
}

kw_gate *kw_bench_shut_behind(void *stream) {
  kw_gate *gate = kw_gate_take(stream);
  KW_CHECK(gate, "this test closes too many gates at once");
  kw_bench_call(stream, kw_gate_wait, gate);
  return gate;
}

kw_gate *kw_bench_shut(void *stream) {
  kw_gate *gate = kw_bench_shut_behind(stream);
  const bool held = kw_gate_await(gate);
  kw_gate_check();
  KW_CHECK(held, "a host function ran on the calling thread, inside call_host: it cannot hold up its stream");
  return gate;
}

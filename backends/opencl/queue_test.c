/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory, streams, events and callbacks of the OpenCL plugin. Streams are held by callbacks that the test opens, never
 * by time.
 */
#include "test_host.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The plugin's calls of clGetEventInfo come here first: to let a command fail after it was accepted. (Really failing
 * one, by a user event with a negative status, makes PoCL 3.1 abort.) */
static _Atomic bool commands_fail;

__attribute__((visibility("default"))) cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info what,
                                                                         size_t size, void *value, size_t *out_size) {
  cl_int(CL_API_CALL * real)(cl_event, cl_event_info, size_t, void *, size_t *);
  *(void **)&real = dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), "clGetEventInfo");
  cl_int error = real(event, what, size, value, out_size);
  if (commands_fail && what == CL_EVENT_COMMAND_EXECUTION_STATUS) *(cl_int *)value = CL_OUT_OF_RESOURCES;
  return error;
}

#define CHECK(call) assert_int_equal(call, KW_OK)

static void *stream_create(test_host *host, uint64_t token) {
  kw_stream_info info = {.struct_size = sizeof info, .token = token};
  void *stream = NULL;
  CHECK(host->stream_api->create(host->device, &info, &stream));
  return stream;
}

static void fill_int(test_host *host, void *stream, const kw_tensor_ref *tensor, int32_t value) {
  CHECK(host->memory->fill(host->device, stream, tensor->mem, 0, (uint64_t)tensor->numel * 4, &value, 4));
}

static void copy_all(test_host *host, void *stream, const kw_tensor_ref *to, const kw_tensor_ref *from) {
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_DEVICE_TO_DEVICE,
                       .dst_mem = to->mem,
                       .src_mem = from->mem,
                       .size = (uint64_t)from->numel * 4};
  CHECK(host->memory->copy(host->device, stream, &copy));
}

static int32_t read_int(test_host *host, const kw_tensor_ref *tensor) {
  int32_t value;
  test_read(host, tensor, &value, sizeof value);
  return value;
}

static void call_host(test_host *host, void *stream, test_gate *gate) {
  CHECK(host->stream_api->call_host(host->device, stream, (uint64_t)(uintptr_t)gate));
}

static void test_info(void **state) {
  test_host *host = *state;
  assert_string_equal(host->plugin_desc->key, "opencl");
  assert_true(host->info.name[0] != 0);
  assert_true(host->info.driver_version[0] != 0);
  assert_int_equal(host->info.flags & KW_DEVICE_EMULATED, 0);
  assert_true(host->info.total_memory >= host->info.max_alloc);
  assert_true(host->info.mem_alignment >= 64);
  assert_int_equal(host->info.mem_alignment & (host->info.mem_alignment - 1), 0);
  assert_int_equal(host->info.offset_alignment, 64);
}

static void test_query_refuses_another_major(void **state) {
  test_host *host = *state;
  const char *reason = NULL;
  const kw_plugin_desc *desc = NULL;
  kw_query_info info = {
      .struct_size = sizeof info, .abi_min = KW_ABI_MAKE(9, 0), .abi_max = KW_ABI_MAKE(9, 0), .host_version = "test"};
  assert_int_equal(host->query(&info, &desc, &reason), KW_ERR_ABI_MISMATCH);
  assert_null(desc);
  assert_non_null(strstr(reason, "ABI 1.0"));
}

static void test_out_of_memory(void **state) {
  test_host *host = *state;
  const uint64_t sizes[] = {host->info.max_alloc + 1, UINT64_MAX, UINT64_MAX / 2};
  kw_mem mem = NULL;
  for (int i = 0; i < 3; ++i) {
    kw_alloc_info info = {.struct_size = sizeof info, .size = sizes[i], .alignment = 64};
    host->error[0] = 0;
    assert_int_equal(host->memory->alloc(host->device, &info, &mem), KW_ERR_OUT_OF_MEMORY);
    assert_null(mem);
    assert_non_null(strstr(host->error, "CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  }
  uint64_t free_before, total, free_after;
  CHECK(host->memory->usage(host->device, &free_before, &total));
  assert_int_equal(total, host->info.total_memory);
  kw_tensor_ref tensor = test_tensor(host, KW_I32, 1, (int64_t[]){256}, NULL);
  CHECK(host->memory->usage(host->device, &free_after, &total));
  assert_int_equal(free_before - free_after, 1024);
  fill_int(host, host->stream, &tensor, 42);
  assert_int_equal(read_int(host, &tensor), 42);
  test_tensor_free(host, &tensor);
}

static void test_copy_and_fill(void **state) {
  test_host *host = *state;
  uint8_t bytes[256], back[256], pattern[16];
  for (int i = 0; i < 256; ++i) bytes[i] = (uint8_t)(i * 7);
  for (int i = 0; i < 16; ++i) pattern[i] = (uint8_t)(200 + i);
  kw_tensor_ref a = test_tensor(host, KW_U8, 1, (int64_t[]){256}, bytes);
  kw_tensor_ref b = test_tensor(host, KW_U8, 1, (int64_t[]){256}, NULL);
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_DEVICE_TO_DEVICE,
                       .dst_mem = b.mem,
                       .dst_offset = 3,
                       .src_mem = a.mem,
                       .src_offset = 10,
                       .size = 100};
  CHECK(host->memory->copy(host->device, host->stream, &copy));
  for (uint32_t size = 1; size <= 16; size *= 2)
    CHECK(host->memory->fill(host->device, host->stream, b.mem, 128 + 16 * (uint64_t)(size == 16 ? 5 : size / 2), 16,
                             pattern, size));
  test_read(host, &b, back, sizeof back);
  assert_int_equal(back[2], 0xa5);
  assert_memory_equal(back + 3, bytes + 10, 100);
  assert_int_equal(back[103], 0xa5);
  for (uint32_t size = 1; size <= 16; size *= 2)
    for (uint32_t i = 0; i < 16; ++i)
      assert_int_equal(back[128 + 16 * (size == 16 ? 5 : size / 2) + i], pattern[i % size]);
  assert_int_equal(back[128 + 16 * 3], 0xa5);
  test_tensor_free(host, &a);
  test_tensor_free(host, &b);
}

/* Later work waits for a callback; query says so; other streams and their callbacks go on. */
static void test_callback_gates_its_stream_only(void **state) {
  test_host *host = *state;
  void *one = stream_create(host, 11), *two = stream_create(host, 12);
  test_gate held, open;
  kw_tensor_ref a = test_tensor(host, KW_I32, 1, (int64_t[]){64}, NULL);
  kw_tensor_ref b = test_tensor(host, KW_I32, 1, (int64_t[]){64}, NULL);
  test_gate_start(&held);
  test_gate_start(&open);
  test_gate_open(&open);
  CHECK(host->stream_api->query(host->device, one));
  fill_int(host, one, &a, 1);
  call_host(host, one, &held);
  fill_int(host, one, &a, 2);
  test_gate_wait_entered(&held);
  assert_int_equal(host->stream_api->query(host->device, one), KW_ERR_NOT_READY);
  assert_int_equal(read_int(host, &a), 1);
  fill_int(host, two, &b, 3);
  call_host(host, two, &open);
  CHECK(host->stream_api->synchronize(host->device, two, KW_WAIT_FOREVER));
  CHECK(host->stream_api->query(host->device, two));
  assert_true(open.left);
  assert_int_equal(read_int(host, &b), 3);
  assert_false(held.left);
  test_gate_open(&held);
  CHECK(host->stream_api->synchronize(host->device, one, KW_WAIT_FOREVER));
  CHECK(host->stream_api->query(host->device, one));
  assert_true(held.left);
  assert_int_equal(read_int(host, &a), 2);
  CHECK(host->stream_api->destroy(host->device, one));
  CHECK(host->stream_api->destroy(host->device, two));
  test_tensor_free(host, &a);
  test_tensor_free(host, &b);
}

static void *open_when_entered(void *argument) {
  test_gate_wait_entered(argument);
  test_gate_open(argument);
  return NULL;
}

static void test_destroy_waits(void **state) {
  test_host *host = *state;
  void *stream = stream_create(host, 13);
  test_gate gate;
  pthread_t thread;
  kw_tensor_ref a = test_tensor(host, KW_I32, 1, (int64_t[]){64}, NULL);
  test_gate_start(&gate);
  call_host(host, stream, &gate);
  fill_int(host, stream, &a, 5);
  pthread_create(&thread, NULL, open_when_entered, &gate);
  CHECK(host->stream_api->destroy(host->device, stream));
  assert_true(gate.left);
  pthread_join(thread, NULL);
  assert_int_equal(read_int(host, &a), 5);
  test_tensor_free(host, &a);
}

/* What fails after its slot returned is reported before the next synchronise returns, once, on its own stream. */
static void test_late_failure_is_reported(void **state) {
  test_host *host = *state;
  void *stream = stream_create(host, 99);
  kw_tensor_ref a = test_tensor(host, KW_I32, 1, (int64_t[]){64}, NULL);
  fill_int(host, stream, &a, 5);
  assert_int_equal(host->reports, 0);
  commands_fail = true;
  fill_int(host, stream, &a, 6); /* finds the first one failed */
  fill_int(host, stream, &a, 7);
  assert_int_equal(host->reports, 1);
  assert_int_equal(host->reported_stream, 99);
  assert_non_null(strstr(host->error, "CL_OUT_OF_RESOURCES"));
  CHECK(host->stream_api->query(host->device, stream));
  CHECK(host->stream_api->synchronize(host->device, stream, KW_WAIT_FOREVER));
  assert_int_equal(host->reports, 1);
  fill_int(host, stream, &a, 8);
  CHECK(host->stream_api->synchronize(host->device, stream, KW_WAIT_FOREVER));
  commands_fail = false;
  assert_int_equal(host->reports, 2); /* a new failure, after the first was told */
  CHECK(host->stream_api->destroy(host->device, stream));
  assert_int_equal(host->reports, 2);
  fill_int(host, host->stream, &a, 9);
  assert_int_equal(read_int(host, &a), 9);
  test_tensor_free(host, &a);
}

static void test_event_orders_streams(void **state) {
  test_host *host = *state;
  const kw_event_api *events = host->event_api;
  void *one = stream_create(host, 14), *two = stream_create(host, 15), *event = NULL;
  test_gate gate;
  kw_tensor_ref a = test_tensor(host, KW_I32, 1, (int64_t[]){64}, NULL);
  kw_tensor_ref b = test_tensor(host, KW_I32, 1, (int64_t[]){64}, NULL);
  test_gate_start(&gate);
  CHECK(events->create(host->device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &event));
  CHECK(events->query(host->device, event)); /* fresh: completed */
  CHECK(events->synchronize(host->device, event, KW_WAIT_FOREVER));
  CHECK(events->wait(host->device, two, event));
  fill_int(host, one, &a, 1);
  call_host(host, one, &gate);
  fill_int(host, one, &a, 2);
  CHECK(events->record(host->device, event, one));
  CHECK(events->wait(host->device, two, event));
  copy_all(host, two, &b, &a);
  /* Recording again, here on an idle stream, and destroying leave the wait as it was. */
  CHECK(events->record(host->device, event, host->stream));
  CHECK(events->synchronize(host->device, event, KW_WAIT_FOREVER));
  CHECK(events->query(host->device, event));
  CHECK(events->destroy(host->device, event));
  assert_int_equal(host->stream_api->query(host->device, two), KW_ERR_NOT_READY);
  test_gate_wait_entered(&gate);
  test_gate_open(&gate);
  CHECK(host->stream_api->synchronize(host->device, two, KW_WAIT_FOREVER));
  assert_int_equal(read_int(host, &b), 2);
  CHECK(host->stream_api->destroy(host->device, one));
  CHECK(host->stream_api->destroy(host->device, two));
  test_tensor_free(host, &a);
  test_tensor_free(host, &b);
}

static void test_event_state_and_time(void **state) {
  test_host *host = *state;
  const kw_event_api *events = host->event_api;
  void *stream = stream_create(host, 16), *start = NULL, *end = NULL;
  uint64_t ns = UINT64_MAX;
  test_gate gate;
  test_gate_start(&gate);
  CHECK(events->create(host->device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &start));
  CHECK(events->create(host->device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &end));
  CHECK(events->record(host->device, start, stream));
  call_host(host, stream, &gate);
  CHECK(events->record(host->device, end, stream));
  CHECK(events->synchronize(host->device, start, KW_WAIT_FOREVER));
  assert_int_equal(events->query(host->device, end), KW_ERR_NOT_READY);
  test_gate_wait_entered(&gate);
  test_gate_open(&gate);
  CHECK(events->synchronize(host->device, end, KW_WAIT_FOREVER));
  CHECK(events->query(host->device, end));
  CHECK(events->elapsed(host->device, start, end, &ns));
  assert_true(ns > 0 && ns < UINT64_C(60000000000));
  CHECK(events->elapsed(host->device, end, start, &ns));
  assert_int_equal(ns, 0);
  CHECK(events->destroy(host->device, start));
  CHECK(events->destroy(host->device, end));
  CHECK(host->stream_api->destroy(host->device, stream));
}

/* Many threads append to one stream, one kernel with arguments of their own: every addition must arrive. */
typedef struct adder {
  test_host *host;
  void *stream;
  const kw_tensor_ref *sum, *one;
  int64_t alpha;
  kw_status status;
} adder;

enum { THREADS = 4, ADDITIONS = 2000 };

static void *add_many(void *argument) {
  adder *self = argument;
  test_host *host = self->host;
  const kw_kernel_desc *kernel = test_kernel(host, "add.Tensor");
  kw_value args[] = {test_tensor_arg(self->sum), test_tensor_arg(self->one), test_int_scalar(self->alpha)};
  kw_call call = {.struct_size = sizeof call,
                  .arg_count = 3,
                  .out_count = 1,
                  .device = host->device,
                  .op = "add.Tensor",
                  .args = args,
                  .outs = &self->sum,
                  .user = kernel->user};
  self->status = kernel->prepare(&call, &call.prepared);
  if (self->status != KW_OK) return NULL;
  call.stream = self->stream;
  for (int i = 0; i < ADDITIONS && self->status == KW_OK; ++i) self->status = kernel->launch(&call);
  kernel->release(kernel->user, call.prepared);
  return NULL;
}

static void test_threads_on_one_stream(void **state) {
  test_host *host = *state;
  pthread_t threads[THREADS];
  adder adders[THREADS];
  int32_t zeros[64] = {0}, ones[64], back[64];
  for (int i = 0; i < 64; ++i) ones[i] = 1;
  void *stream = stream_create(host, 17);
  kw_tensor_ref sum = test_tensor(host, KW_I32, 1, (int64_t[]){64}, zeros);
  kw_tensor_ref one = test_tensor(host, KW_I32, 1, (int64_t[]){64}, ones);
  for (int t = 0; t < THREADS; ++t) {
    adders[t] = (adder){.host = host, .stream = stream, .sum = &sum, .one = &one, .alpha = 1 << (4 * t)};
    pthread_create(&threads[t], NULL, add_many, &adders[t]);
  }
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(threads[t], NULL);
    assert_int_equal(adders[t].status, KW_OK);
  }
  CHECK(host->stream_api->synchronize(host->device, stream, KW_WAIT_FOREVER));
  test_read(host, &sum, back, sizeof back);
  for (int i = 0; i < 64; ++i) assert_int_equal(back[i], 0x1111 * ADDITIONS);
  CHECK(host->stream_api->destroy(host->device, stream));
  test_tensor_free(host, &sum);
  test_tensor_free(host, &one);
}

/* A second life of the plugin, and in it a second one of the device. */
static void test_reopen(void **state) {
  test_host *host = *state;
  uint32_t kernels = host->kernel_count;
  test_host_close(host);
  test_host_open(host);
  assert_int_equal(host->kernel_count, kernels);
  CHECK(host->stream_api->destroy(host->device, host->stream));
  CHECK(host->device_api->close(host->device));
  CHECK(host->device_api->open(host->plugin, 0, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &host->device));
  host->stream = stream_create(host, 18);
  kw_tensor_ref tensor = test_tensor(host, KW_I32, 1, (int64_t[]){4}, NULL);
  fill_int(host, host->stream, &tensor, 9);
  assert_int_equal(read_int(host, &tensor), 9);
  test_tensor_free(host, &tensor);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_info),
      cmocka_unit_test(test_query_refuses_another_major),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_copy_and_fill),
      cmocka_unit_test(test_callback_gates_its_stream_only),
      cmocka_unit_test(test_destroy_waits),
      cmocka_unit_test(test_late_failure_is_reported),
      cmocka_unit_test(test_event_orders_streams),
      cmocka_unit_test(test_event_state_and_time),
      cmocka_unit_test(test_threads_on_one_stream),
      cmocka_unit_test(test_reopen),
  };
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite fault: what a plugin with keyway.test/1 brings about on demand, judged by what becomes of it. Each order is
 * given in a process that nothing else uses.
 */
#include "child.h"
#include "scenarios.h"

#include <keyway/test.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 19 }; /* floats: as much memory as comes in a piece of its own */

/* The worker's own process is none for tests. */
void kw_contract_fault_only_where_tests_are_run(void **state) {
  (void)state;
  KW_CHECK_STATUS(kw_device_order_fault(kw_contract.device, KW_FAULT_NONE, 0), KW_ERR_UNSUPPORTED);
}

static void run(const char *scenario) {
  kw_test_need(KW_NATIVE_TEST);
  kw_test_child(scenario);
}

/* In a scenario. A plugin need not have every fault. */
static void order_or_skip(kw_fault fault, uint64_t nth) {
  kw_status status = kw_device_order_fault(kw_contract.device, fault, nth);
  if (status == KW_ERR_UNSUPPORTED) {
    fprintf(stderr, "%s", kw_error_message());
    exit(KW_CHILD_SKIPS);
  }
  KW_CHECK_OK(status);
}

/* The n-th allocation fails, and no other; nothing leaks. */
void kw_contract_fault_allocation_fails(void **state) {
  (void)state;
  run("fault_alloc");
}

int kw_child_fault_alloc(void) {
  enum { TENSORS = 4, FAILS = 3 };
  kw_tensor *tensors[TENSORS];
  kw_child_open_device_with(KW_INIT_TEST);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  const kw_memory_stats before = kw_test_stats();
  order_or_skip(KW_FAULT_ALLOC, FAILS);
  for (int i = 0; i < TENSORS; i++) {
    tensors[i] = kw_test_f32(COUNT, (uint64_t)i); /* the library asks a second time */
    const uint64_t failed = kw_test_stats().oom_retries - before.oom_retries;
    KW_CHECK(failed == (i + 1 >= FAILS), "after allocation %d of which %d was to fail, %d have failed", i + 1, FAILS,
             (int)failed);
  }
  static float want[COUNT];
  for (int i = 0; i < TENSORS; i++) {
    kw_test_floats(want, COUNT, (uint64_t)i);
    kw_test_expect_f32(tensors[i], want, COUNT, "a tensor made around an allocation that failed");
    kw_tensor_release(tensors[i]);
  }
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  KW_CHECK(kw_test_stats().held == before.held, "memory is held after an allocation has failed");
  return 0;
}

/* out = a + a, whatever becomes of it. */
static kw_tensor *doubled(kw_tensor *a) {
  kw_tensor *sum = NULL;
  kw_test_add(NULL, a, a, &sum);
  return sum;
}

/* The n-th launch fails after it was enqueued: its stream's wait says so once, and names it; then all is well. */
void kw_contract_fault_launch_fails_late(void **state) {
  (void)state;
  kw_test_need_op("add.Tensor");
  run("fault_late");
}

int kw_child_fault_late(void) {
  kw_child_open_device_with(KW_INIT_TEST);
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_tensor *a = kw_test_f32(100, 1), *sums[3];
  float want[100];
  order_or_skip(KW_FAULT_LATE, 2);
  sums[0] = doubled(a);
  KW_CHECK_OK(kw_stream_synchronize(stream));
  sums[1] = doubled(a);
  KW_CHECK_STATUS(kw_stream_synchronize(stream), KW_ERR_INTERNAL);
  KW_CHECK(strstr(kw_error_message(), "add.Tensor") != NULL, "a late error does not name its op: %s",
           kw_error_message());
  KW_CHECK_OK(kw_stream_synchronize(stream));
  sums[2] = doubled(a);
  kw_test_floats(want, 100, 1);
  for (int i = 0; i < 100; i++) want[i] += want[i];
  kw_test_expect_f32(sums[0], want, 100, "the sum before the one that failed late");
  kw_test_expect_f32(sums[2], want, 100, "the sum after the one that failed late");
  for (int i = 0; i < 3; i++) kw_tensor_release(sums[i]);
  kw_tensor_release(a);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}

/* The device is lost: every call says so, it closes, and opened again it is a new one. */
void kw_contract_fault_device_is_lost(void **state) {
  (void)state;
  kw_test_need_op("add.Tensor");
  run("fault_lose");
}

int kw_child_fault_lose(void) {
  kw_child_open_device_with(KW_INIT_TEST);
  kw_tensor *a = kw_test_f32(100, 1);
  float got[100];
  order_or_skip(KW_FAULT_LOSE, 1);
  kw_tensor *sum = doubled(a);
  KW_CHECK_STATUS(kw_device_synchronize(kw_contract.device), KW_ERR_DEVICE_LOST);
  KW_CHECK_STATUS(kw_tensor_read(sum, got), KW_ERR_DEVICE_LOST);
  KW_CHECK_STATUS(kw_tensor_read(a, got), KW_ERR_DEVICE_LOST);
  kw_tensor_release(a);
  kw_tensor_release(sum);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  KW_CHECK_OK(kw_device_open(kw_contract.device_name, &kw_contract.device));
  kw_test_usable("a round trip after the device was lost, closed and opened again");
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}

/* Work does not go on until it is let go; waits end at their limits meanwhile, and nothing is lost. */
void kw_contract_fault_work_is_held(void **state) {
  (void)state;
  run("fault_hold");
}

int kw_child_fault_hold(void) {
  enum { SIZE = 5000 };
  static unsigned char sent[SIZE], got[SIZE];
  kw_child_open_device_with(KW_INIT_TEST);
  kw_stream *stream = kw_test_stream();
  kw_tensor *tensor = kw_test_bytes_on(stream, SIZE);
  kw_test_pattern(sent, SIZE, 3);
  order_or_skip(KW_FAULT_HOLD, 1);
  KW_CHECK_OK(kw_tensor_write_async(tensor, sent, stream));
  KW_CHECK_OK(kw_tensor_read_async(tensor, got, stream));
  KW_CHECK_STATUS(kw_stream_synchronize_for(stream, 100000000), KW_ERR_TIMEOUT); /* long enough for what is not held */
  KW_CHECK_STATUS(kw_stream_synchronize_for(stream, 0), KW_ERR_TIMEOUT);
  KW_CHECK_OK(kw_device_order_fault(kw_contract.device, KW_FAULT_NONE, 0));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_test_same(got, sent, SIZE, "what went through a stream that was held");
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite fault: what a plugin with keyway.test/1 brings about on demand, judged by what becomes of it. Each order is
 * given in a process that nothing else uses. Here applications' calls are made; fault_slots.c calls slots directly.
 */
#include "fault.h"

#include "child.h"
#include "hold.h"
#include "scenarios.h"
#include "soak/soak.h"

#include <keyway/test.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 19 }; /* floats: as much memory as comes in a piece of its own */

/* The worker's own process is none for tests. */
void kw_contract_fault_only_where_tests_are_run(void **state) {
  (void)state;
  KW_CHECK_STATUS(kw_device_order_fault(kw_contract.device, KW_FAULT_NONE, 0), KW_ERR_UNSUPPORTED);
}

void kw_fault_run(const char *scenario) {
  if (!(kw_device_native(kw_contract.device) & KW_NATIVE_TEST)) {
    kw_contract_not_tried("late errors: not tested; %s brings about no faults on demand (keyway.test/1)",
                          kw_contract.device_name);
  }
  kw_test_child(scenario);
}

void kw_fault_check_order(kw_status status, kw_fault fault, const char *reason) {
  static const char *const names[] = {"no order", "refused allocations", "late errors", "a lost device", "held work"};
  if (status == KW_ERR_UNSUPPORTED) { /* a plugin need not have every fault */
    kw_contract_not_tried("%s: not tested; %s", names[fault], reason);
  }
  KW_CHECK(status == KW_OK, "the order to bring about %s gave %s: %s", names[fault], kw_status_name(status), reason);
}

/* In a scenario. */
static void order(kw_fault fault, uint64_t nth) {
  kw_fault_check_order(kw_device_order_fault(kw_contract.device, fault, nth), fault, kw_error_message());
}

/* The n-th allocation fails, and no other; nothing leaks, and nobody else is told of it. */
void kw_contract_fault_allocation_fails(void **state) {
  (void)state;
  kw_fault_run("fault_alloc");
}

int kw_child_fault_alloc(void) {
  enum { TENSORS = 4, FAILS = 3 };
  static kw_soak_call call;
  kw_tensor *tensors[TENSORS];
  kw_child_open_device_with(KW_INIT_TEST);
  kw_soak_call_make(TENSORS, &call);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  const kw_memory_stats before = kw_test_stats();
  order(KW_FAULT_ALLOC, FAILS);
  for (int i = 0; i < TENSORS; i++) {
    tensors[i] = kw_test_f32(COUNT, (uint64_t)i); /* the library asks a second time */
    const uint64_t failed = kw_test_stats().oom_retries - before.oom_retries;
    KW_CHECK(failed == (i + 1 >= FAILS), "after allocation %d of which %d was to fail, %d have failed", i + 1, FAILS,
             (int)failed);
    KW_CHECK_OK(kw_soak_call_run(&call, NULL, (uint64_t)i));
    KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  }
  kw_soak_call_check(&call, TENSORS, "launch", 1);
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

/* The n-th launch fails after it was enqueued: its stream's wait says so once, and names it; then all is well. */
void kw_contract_fault_launch_fails_late(void **state) {
  (void)state;
  kw_fault_run("fault_late");
}

int kw_child_fault_late(void) {
  static kw_soak_call call;
  kw_child_open_device_with(KW_INIT_TEST);
  kw_soak_call_make(3, &call);
  kw_soak_call_clear(&call, 3);
  kw_stream *stream = kw_stream_default(kw_contract.device);
  order(KW_FAULT_LATE, 2);
  KW_CHECK_OK(kw_soak_call_run(&call, stream, 0));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_soak_call_run(&call, stream, 1));
  KW_CHECK_STATUS(kw_stream_synchronize(stream), KW_ERR_INTERNAL);
  KW_CHECK(strstr(kw_error_message(), call.known.call.info.name) != NULL, "a late error of %s does not name it: %s",
           call.known.call.info.name, kw_error_message());
  KW_CHECK_OK(kw_stream_synchronize(stream));
  for (uint64_t i = 1; i < 3; i++) KW_CHECK_OK(kw_soak_call_run(&call, stream, i));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_soak_call_check(&call, 3, "launch", 1);
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}

/* Of several streams the one on which a launch failed says so, and no other; what the others did is there. */
void kw_contract_fault_error_is_its_streams(void **state) {
  (void)state;
  kw_fault_run("fault_streams");
}

/* Each stream's launch fails, before anybody waits for one of them: each wait says so. */
static void fail_on_each(kw_soak_call *call, kw_stream *const *streams, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    order(KW_FAULT_LATE, 1);
    KW_CHECK_OK(kw_soak_call_run(call, streams[i], i));
  }
  for (uint64_t i = 0; i < count; i++) {
    const kw_status status = kw_stream_synchronize(streams[i]);
    KW_CHECK(status == KW_ERR_INTERNAL,
             "on each of %d streams a launch failed late before any was waited for; the wait for number %d gave %s",
             (int)count, (int)i + 1, kw_status_name(status));
  }
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
}

int kw_child_fault_streams(void) {
  enum { STREAMS = 4, EARLIER = 300 };
  static kw_soak_call call;
  kw_child_open_device_with(KW_INIT_TEST);
  kw_soak_call_make(STREAMS, &call);
  for (int i = 0; i < EARLIER; i++) KW_CHECK_OK(kw_stream_destroy(kw_test_stream()));
  kw_stream *streams[STREAMS] = {kw_stream_default(kw_contract.device)};
  for (int i = 1; i < STREAMS; i++) streams[i] = kw_test_stream();
  for (uint64_t fails = 0; fails < STREAMS; fails++) {
    kw_soak_call_clear(&call, STREAMS);
    KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
    order(KW_FAULT_LATE, fails + 1);
    for (uint64_t i = 0; i < STREAMS; i++) KW_CHECK_OK(kw_soak_call_run(&call, streams[i], i));
    for (uint64_t i = 0; i < STREAMS; i++) {
      const kw_status status = kw_stream_synchronize(streams[i]), want = i == fails ? KW_ERR_INTERNAL : KW_OK;
      KW_CHECK(status == want,
               "of %d streams the launch on number %d failed late; the wait for number %d gave %s, not %s", STREAMS,
               (int)fails + 1, (int)i + 1, kw_status_name(status), kw_status_name(want));
    }
    KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
    KW_CHECK_OK(kw_soak_call_run(&call, streams[fails], fails));
    KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
    kw_soak_call_check(&call, STREAMS, "launch", 1);
  }
  fail_on_each(&call, streams, STREAMS);
  for (int i = 1; i < STREAMS; i++) KW_CHECK_OK(kw_stream_destroy(streams[i]));
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}

/* The device is lost: every call says so, all that belongs to it can be given back, it closes, and opened again it is a
 * new one. */
void kw_contract_fault_device_is_lost(void **state) {
  (void)state;
  kw_fault_run("fault_lose");
}

static void give_back(const char *object, kw_status status) {
  KW_CHECK(status == KW_OK || status == KW_ERR_DEVICE_LOST, "%s of a lost device was destroyed, which gave %s: %s",
           object, kw_status_name(status), kw_error_message());
}

int kw_child_fault_lose(void) {
  enum { SIZE = 400, LAUNCHES = 3 };
  static kw_soak_call call;
  static unsigned char got[SIZE];
  kw_child_open_device_with(KW_INIT_TEST);
  kw_soak_call_make(LAUNCHES, &call);
  kw_stream *stream = kw_test_stream(), *idle = kw_test_stream();
  kw_event *event = kw_test_event();
  kw_tensor *tensor = kw_test_bytes(SIZE, 1);
  order(KW_FAULT_LOSE, 1);
  KW_CHECK_OK(kw_soak_call_run(&call, stream, 0));
  KW_CHECK_STATUS(kw_device_synchronize(kw_contract.device), KW_ERR_DEVICE_LOST);
  KW_CHECK_STATUS(kw_stream_synchronize(idle), KW_ERR_DEVICE_LOST);
  KW_CHECK_STATUS(kw_tensor_read(tensor, got), KW_ERR_DEVICE_LOST);
  KW_CHECK_STATUS(kw_soak_call_run(&call, stream, 1), KW_ERR_DEVICE_LOST);
  give_back("an event", kw_event_destroy(event));
  give_back("a stream", kw_stream_destroy(stream));
  give_back("a stream", kw_stream_destroy(idle));
  kw_tensor_release(tensor);
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  KW_CHECK_OK(kw_device_open(kw_contract.device_name, &kw_contract.device));
  kw_test_usable("a round trip after the device was lost, closed and opened again");
  kw_soak_call_make(LAUNCHES, &call);
  for (uint64_t i = 0; i < LAUNCHES; i++) KW_CHECK_OK(kw_soak_call_run(&call, NULL, i));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  kw_soak_call_check(&call, LAUNCHES, "launch", 1);
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}

/* Work does not go on until it is let go; waits end at their limits and everything else returns meanwhile, and nothing
 * is lost. */
void kw_contract_fault_work_is_held(void **state) {
  (void)state;
  kw_fault_run("fault_hold");
}

/* Lets the work go on when the gate opens: by the test, or by itself where the test waits for what is held. */
static void *let_go_main(void *gate) {
  kw_gate_wait(gate);
  KW_CHECK_OK(kw_device_order_fault(kw_contract.device, KW_FAULT_NONE, 0));
  return NULL;
}

/* What must return although work is held, on both streams: allocating, enqueueing, asking. */
static void use_held(kw_stream *stream, kw_event *event, kw_soak_call *call, uint64_t launches, uint64_t first) {
  kw_tensor *tensor = NULL;
  const int64_t shape = COUNT; /* this much comes from the plugin */
  KW_CHECK_OK(kw_tensor_create_on(stream, KW_F32, 1, &shape, &tensor));
  for (uint64_t i = 0; i < launches; i++) KW_CHECK_OK(kw_soak_call_run(call, stream, first + i));
  KW_CHECK_OK(kw_event_record(event, stream));
  KW_CHECK_STATUS(kw_event_query(event), KW_ERR_NOT_READY);
  KW_CHECK_STATUS(kw_stream_query(stream), KW_ERR_NOT_READY);
  KW_CHECK_STATUS(kw_event_synchronize_for(event, 0), KW_ERR_TIMEOUT);
  KW_CHECK_STATUS(kw_stream_synchronize_for(stream, 1000000), KW_ERR_TIMEOUT);
  kw_tensor_release(tensor);
}

/* Copies of each of these sizes in each direction, into places of their own; a driver may hold up who copies from or to
 * memory that is not page-locked, so this is. */
enum { SMALL_COPIES = 7, SMALL_SIZE = 4694 };
static const int64_t small_sizes[SMALL_COPIES] = {1, 4, 16, 64, 256, 257, 4096};

typedef struct small_copies {
  unsigned char *sent, *got; /* page-locked, where the plugin has such memory */
  kw_tensor *tensors[2], *from[SMALL_COPIES], *to[SMALL_COPIES];
} small_copies;

static void make_small_copies(small_copies *c) {
  int64_t at = 0;
  KW_CHECK_OK(kw_host_alloc(kw_contract.device, SMALL_SIZE, (void **)&c->sent));
  KW_CHECK_OK(kw_host_alloc(kw_contract.device, SMALL_SIZE, (void **)&c->got));
  kw_test_pattern(c->sent, SMALL_SIZE, 4);
  for (int i = 0; i < 2; i++) c->tensors[i] = kw_test_bytes(SMALL_SIZE, 5);
  for (int i = 0; i < SMALL_COPIES; at += small_sizes[i++]) {
    KW_CHECK_OK(kw_tensor_slice(c->tensors[0], 0, at, at + small_sizes[i], 1, &c->from[i]));
    KW_CHECK_OK(kw_tensor_slice(c->tensors[1], 0, at, at + small_sizes[i], 1, &c->to[i]));
  }
}

static void copy_small(const small_copies *c, kw_stream *stream) {
  int64_t at = 0;
  for (int i = 0; i < SMALL_COPIES; at += small_sizes[i++]) {
    KW_CHECK_OK(kw_tensor_write_async(c->from[i], c->sent + at, stream));
    KW_CHECK_OK(kw_tensor_copy_async(c->to[i], stream, c->from[i], stream));
    KW_CHECK_OK(kw_tensor_read_async(c->to[i], c->got + at, stream));
  }
}

static void end_small_copies(small_copies *c) {
  kw_test_same(c->got, c->sent, SMALL_SIZE, "what small copies brought there and back on a stream that was held");
  for (int i = 0; i < SMALL_COPIES; i++) {
    kw_tensor_release(c->from[i]);
    kw_tensor_release(c->to[i]);
  }
  for (int i = 0; i < 2; i++) kw_tensor_release(c->tensors[i]);
  KW_CHECK_OK(kw_host_free(kw_contract.device, c->sent));
  KW_CHECK_OK(kw_host_free(kw_contract.device, c->got));
}

int kw_child_fault_hold(void) {
  enum { SIZE = 5000, LAUNCHES = 3 };
  static unsigned char sent[SIZE], got[SIZE];
  static kw_soak_call call;
  static small_copies small;
  kw_child_open_device_with(KW_INIT_TEST);
  kw_soak_call_make(2 * LAUNCHES, &call);
  make_small_copies(&small);
  kw_soak_call_clear(&call, 2 * LAUNCHES);
  kw_stream *stream = kw_test_stream(), *other = kw_test_stream();
  kw_event *events[] = {kw_test_event(), kw_test_event()};
  kw_tensor *tensor = kw_test_bytes_on(stream, SIZE);
  kw_test_pattern(sent, SIZE, 3);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device)); /* which waits */
  order(KW_FAULT_HOLD, 1);
  pthread_t thread;
  kw_gate *gate = kw_gate_take_for("all work, as a test had ordered,");
  KW_NEED(gate && pthread_create(&thread, NULL, let_go_main, gate) == 0, "threads");
  (void)kw_gate_await(gate);
  KW_CHECK_OK(kw_tensor_write_async(tensor, sent, stream));
  KW_CHECK_OK(kw_tensor_read_async(tensor, got, stream));
  copy_small(&small, stream);
  KW_CHECK_STATUS(kw_stream_synchronize_for(stream, 100000000), KW_ERR_TIMEOUT); /* long enough for what is not held */
  KW_CHECK_STATUS(kw_stream_synchronize_for(stream, 0), KW_ERR_TIMEOUT);
  if (kw_device_native(kw_contract.device) & KW_NATIVE_EVENTS) { /* core's stand-in waits where it must not */
    use_held(stream, events[0], &call, LAUNCHES, 0);
    use_held(other, events[1], &call, LAUNCHES, LAUNCHES);
  }
  kw_gate_open(gate);
  pthread_join(thread, NULL);
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_stream_synchronize(other));
  kw_test_same(got, sent, SIZE, "what went through a stream that was held");
  end_small_copies(&small);
  if (kw_device_native(kw_contract.device) & KW_NATIVE_EVENTS) kw_soak_call_check(&call, 2 * LAUNCHES, "launch", 1);
  for (int i = 0; i < 2; i++) KW_CHECK_OK(kw_event_destroy(events[i]));
  kw_tensor_release(tensor);
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_stream_destroy(other));
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}

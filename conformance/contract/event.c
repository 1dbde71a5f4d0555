/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite event: markers in streams. Tests that gate a stream need a plugin's own events: core's stand-in waits instead.
 */
#include "contract_helpers.h"
#include "slots/bench.h"

enum { SIZE = 10000, GATED = KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS };

/* A fresh event counts as completed: waiting for it returns at once. */
void kw_contract_event_fresh_is_completed(void **state) {
  (void)state;
  kw_event *event = kw_test_event();
  kw_stream *stream = kw_test_stream();
  KW_CHECK_STATUS(kw_event_query(event), KW_OK);
  KW_CHECK_OK(kw_event_synchronize(event));
  KW_CHECK_OK(kw_stream_wait_event(stream, event));
  KW_CHECK_OK(kw_stream_wait_event(kw_stream_default(kw_contract.device), event));
  kw_test_busy(stream);
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Recorded behind work, waited for: the work has finished. */
void kw_contract_event_record_and_wait(void **state) {
  (void)state;
  enum { ROUNDS = 50 };
  kw_stream *stream = kw_test_stream();
  kw_event *event = kw_test_event();
  kw_tensor *tensor = kw_test_bytes_on(stream, SIZE);
  unsigned char *want = kw_test_memory(2 * SIZE), *got = want + SIZE;
  for (int i = 0; i < ROUNDS; i++) {
    kw_test_pattern(want, SIZE, (uint64_t)i);
    KW_CHECK_OK(kw_tensor_write_async(tensor, want, stream));
    KW_CHECK_OK(kw_tensor_read_async(tensor, got, stream));
    KW_CHECK_OK(kw_event_record(event, stream));
    KW_CHECK_OK(kw_event_synchronize(event));
    kw_test_same(got, want, SIZE, "data read before an event that was waited for");
    KW_CHECK_STATUS(kw_event_query(event), KW_OK);
  }
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(want);
}

/* Query tells ahead from passed, and does not wait. */
void kw_contract_event_query_behind_gate(void **state) {
  (void)state;
  kw_test_need(GATED);
  kw_stream *stream = kw_test_stream();
  kw_event *event = kw_test_event();
  for (int i = 0; i < 4; i++) {
    kw_gate *gate = kw_gate_close(stream);
    KW_CHECK_OK(kw_event_record(event, stream));
    KW_CHECK_STATUS(kw_event_query(event), KW_ERR_NOT_READY);
    kw_test_busy(kw_stream_default(kw_contract.device));
    KW_CHECK_STATUS(kw_event_query(event), KW_ERR_NOT_READY);
    kw_gate_open(gate);
    KW_CHECK_OK(kw_event_synchronize(event));
    KW_CHECK_STATUS(kw_event_query(event), KW_OK);
  }
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Synchronize blocks until the marker is passed. */
void kw_contract_event_synchronize_waits(void **state) {
  (void)state;
  kw_test_need(GATED);
  atomic_int *done = kw_test_memory(sizeof *done);
  kw_stream *stream = kw_test_stream();
  kw_event *event = kw_test_event();
  for (int i = 0; i < 5; i++) {
    atomic_store(done, 0);
    kw_gate *gate = kw_gate_close(stream);
    KW_CHECK_OK(kw_stream_call_host(stream, kw_test_slow_flag, done));
    KW_CHECK_OK(kw_event_record(event, stream));
    kw_gate_open(gate);
    KW_CHECK_OK(kw_event_synchronize(event));
    KW_CHECK(atomic_load(done), "kw_event_synchronize returned before the event's stream had come to it");
  }
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(done);
}

static kw_status wait_within(void *event, uint64_t limit) {
  return kw_event_synchronize_for(event, limit);
}

/* A wait for an event ends at its limit with KW_ERR_TIMEOUT; the next one is as good. */
void kw_contract_event_synchronize_within(void **state) {
  (void)state;
  static const uint64_t limits[] = {0, 1000000, 0};
  kw_test_need(GATED);
  atomic_int *done = kw_test_memory(sizeof *done);
  kw_stream *stream = kw_test_stream();
  kw_event *event = kw_test_event();
  KW_CHECK_OK(kw_event_synchronize_for(event, 0)); /* fresh: completed */
  kw_gate *gate = kw_gate_close(stream);
  KW_CHECK_OK(kw_stream_call_host(stream, kw_test_slow_flag, done));
  KW_CHECK_OK(kw_event_record(event, stream));
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    KW_CHECK_STATUS(kw_event_synchronize_for(event, limits[i]), KW_ERR_TIMEOUT);
  }
  kw_test_limits_last(wait_within, event, "an event");
  kw_gate_open(gate);
  KW_CHECK_OK(kw_event_synchronize_for(event, KW_WAIT_FOREVER));
  KW_CHECK(atomic_load(done), "a wait for an event returned too early, after others had ended at their limits");
  KW_CHECK_OK(kw_event_synchronize_for(event, 0));
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(done);
}

/* The material of a test with a producer, which a gate holds up, and a consumer that must see what it writes. */
typedef struct handover {
  kw_stream *producer, *consumer, *bystander;
  kw_event *event;
  kw_tensor *tensor;
  unsigned char *want, *got;
  atomic_int *consumed; /* 1 when the consumer's read has happened */
  kw_gate *gate;
} handover;

static handover handover_begin(uint64_t tag) {
  handover self = {.producer = kw_test_stream(),
                   .consumer = kw_test_stream(),
                   .bystander = kw_test_stream(),
                   .event = kw_test_event(),
                   .tensor = kw_test_bytes(SIZE, tag + 1),
                   .consumed = kw_test_memory(sizeof(atomic_int))};
  self.want = kw_test_memory(2 * SIZE);
  self.got = self.want + SIZE;
  kw_test_pattern(self.want, SIZE, tag);
  self.gate = kw_gate_close(self.producer);
  KW_CHECK_OK(kw_tensor_write_async(self.tensor, self.want, self.producer));
  return self;
}

static void handover_consume(handover *self) {
  KW_CHECK_OK(kw_tensor_read_async(self->tensor, self->got, self->consumer));
  KW_CHECK_OK(kw_stream_call_host(self->consumer, kw_test_slow_flag, self->consumed));
}

/* Gives the consumer its chance to run too early, then lets the producer go on and compares. */
static void handover_end(handover *self, const char *what) {
  kw_test_busy(self->bystander);
  (void)kw_bench_others_rest(); /* or a while has passed */
  bool early = atomic_load(self->consumed);
  kw_gate_open(self->gate);
  KW_CHECK_OK(kw_stream_synchronize(self->consumer));
  KW_CHECK(!early && memcmp(self->got, self->want, SIZE) == 0, "%s: the stream did not wait for the event", what);
  KW_CHECK_OK(kw_stream_synchronize(self->producer));
  kw_tensor_release(self->tensor);
  if (self->event) KW_CHECK_OK(kw_event_destroy(self->event));
  KW_CHECK_OK(kw_stream_destroy(self->producer));
  KW_CHECK_OK(kw_stream_destroy(self->consumer));
  KW_CHECK_OK(kw_stream_destroy(self->bystander));
  free(self->want);
  free(self->consumed);
}

/* A stream that waits for another's event sees that stream's work. */
void kw_contract_event_orders_streams(void **state) {
  (void)state;
  kw_test_need(GATED);
  for (uint64_t i = 0; i < 3; i++) {
    handover self = handover_begin(10 * i);
    KW_CHECK_OK(kw_event_record(self.event, self.producer));
    KW_CHECK_OK(kw_stream_wait_event(self.consumer, self.event));
    handover_consume(&self);
    handover_end(&self, "data that one stream wrote, read by one that waits for its event");
  }
}

/* The same without a gate, so for derived events too: the writer is slow, the reader waits for its event. */
void kw_contract_event_hand_over(void **state) {
  (void)state;
  kw_stream *writer = kw_test_stream(), *reader = kw_test_stream();
  kw_event *event = kw_test_event();
  kw_tensor *tensor = kw_test_bytes(SIZE, 0);
  unsigned char *want = kw_test_memory(2 * SIZE), *got = want + SIZE;
  atomic_int *done = kw_test_memory(sizeof *done);
  for (uint64_t i = 1; i <= 5; i++) {
    kw_test_pattern(want, SIZE, i);
    KW_CHECK_OK(kw_stream_call_host(writer, kw_test_slow_flag, done));
    KW_CHECK_OK(kw_tensor_write_async(tensor, want, writer));
    KW_CHECK_OK(kw_event_record(event, writer));
    KW_CHECK_OK(kw_stream_wait_event(reader, event));
    KW_CHECK_OK(kw_tensor_read_async(tensor, got, reader));
    KW_CHECK_OK(kw_stream_synchronize(reader));
    kw_test_same(got, want, SIZE, "data that a slow stream wrote, read by one that waits for its event");
  }
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(writer));
  KW_CHECK_OK(kw_stream_destroy(reader));
  free(want);
  free(done);
}

/* Making a stream wait does not hold up the caller (SHOULD), nor other streams. With a gate shut a caller that blocks
 * would never get past the first wait, so this test's time limit is the check. */
void kw_contract_event_wait_leaves_caller(void **state) {
  (void)state;
  kw_test_need(GATED);
  enum { WAITERS = 8 };
  kw_stream *producer = kw_test_stream(), *waiters[WAITERS];
  kw_event *event = kw_test_event();
  kw_gate *gate = kw_gate_close(producer);
  KW_CHECK_OK(kw_event_record(event, producer));
  for (int i = 0; i < WAITERS; i++) {
    waiters[i] = kw_test_stream();
    KW_CHECK_OK(kw_stream_wait_event(waiters[i], event));
  }
  kw_test_usable("a round trip while eight streams wait for an event");
  if (kw_device_native(kw_contract.device) & KW_NATIVE_QUERY) {
    for (int i = 0; i < WAITERS; i++) KW_CHECK_STATUS(kw_stream_query(waiters[i]), KW_ERR_NOT_READY);
  }
  for (int i = 0; i < WAITERS; i++) KW_CHECK_STATUS(kw_stream_synchronize_for(waiters[i], 0), KW_ERR_TIMEOUT);
  kw_gate_open(gate);
  for (int i = 0; i < WAITERS; i++) {
    KW_CHECK_OK(kw_stream_synchronize(waiters[i]));
    KW_CHECK_OK(kw_stream_destroy(waiters[i]));
  }
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(producer));
}

/* Recording again moves the marker: forward to where it is ahead again, and away from a stream that is held up. */
void kw_contract_event_record_again_moves(void **state) {
  (void)state;
  kw_test_need(GATED);
  kw_stream *gated = kw_test_stream(), *idle = kw_test_stream();
  kw_event *event = kw_test_event();
  KW_CHECK_OK(kw_event_record(event, gated));
  KW_CHECK_OK(kw_event_synchronize(event));
  kw_gate *gate = kw_gate_close(gated);
  KW_CHECK_STATUS(kw_event_query(event), KW_OK);
  KW_CHECK_OK(kw_event_record(event, gated));
  KW_CHECK_STATUS(kw_event_query(event), KW_ERR_NOT_READY);
  KW_CHECK_OK(kw_event_record(event, idle));
  KW_CHECK_OK(kw_event_synchronize(event));
  KW_CHECK_STATUS(kw_event_query(event), KW_OK);
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(gated));
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(gated));
  KW_CHECK_OK(kw_stream_destroy(idle));
}

/* A wait is for the record as of then: recording again elsewhere does not release a stream that waits already. */
void kw_contract_event_wait_is_as_of_now(void **state) {
  (void)state;
  kw_test_need(GATED);
  handover self = handover_begin(1);
  KW_CHECK_OK(kw_event_record(self.event, self.producer));
  KW_CHECK_OK(kw_stream_wait_event(self.consumer, self.event));
  KW_CHECK_OK(kw_event_record(self.event, self.bystander));
  handover_consume(&self);
  handover_end(&self, "data behind an event that was recorded elsewhere after the wait");
}

/* The same of a record that has been passed before the stream comes to its wait, and is then made again: the stream
 * goes on, though the new one is held up. */
void kw_contract_event_passed_record_awaited(void **state) {
  (void)state;
  kw_test_need(GATED);
  handover self = handover_begin(5);
  kw_gate *held = kw_gate_close(self.consumer);
  KW_CHECK_OK(kw_event_record(self.event, self.producer));
  KW_CHECK_OK(kw_stream_wait_event(self.consumer, self.event));
  handover_consume(&self);
  kw_gate_open(self.gate);
  KW_CHECK_OK(kw_event_synchronize(self.event));
  KW_CHECK_OK(kw_stream_synchronize(self.producer));
  self.gate = kw_gate_close(self.producer);
  KW_CHECK_OK(kw_event_record(self.event, self.producer));
  kw_gate_open(held);
  KW_CHECK_OK(kw_stream_synchronize(self.consumer));
  KW_CHECK_STATUS(kw_event_query(self.event), KW_ERR_NOT_READY);
  atomic_store(self.consumed, 0); /* late enough: its producer had written */
  handover_end(&self, "data behind a record that had been passed when the event was recorded again");
}

/* An event may be destroyed while its marker is ahead: waits already enqueued are honoured. */
void kw_contract_event_destroy_while_pending(void **state) {
  (void)state;
  kw_test_need(GATED);
  handover self = handover_begin(2);
  KW_CHECK_OK(kw_event_record(self.event, self.producer));
  KW_CHECK_OK(kw_stream_wait_event(self.consumer, self.event));
  handover_consume(&self);
  KW_CHECK_OK(kw_event_destroy(self.event));
  self.event = NULL;
  handover_end(&self, "data behind an event that was destroyed while it was pending");
  kw_test_usable("a round trip after a pending event was destroyed");
}

/* A stream waits for every event that it is told of, however many of them are ahead: here for all but the last on one
 * stream that is held, and for the last on another. */
void kw_contract_event_many_waits(void **state) {
  (void)state;
  kw_test_need(GATED);
  enum { WAITS = 40 };
  handover self = handover_begin(4);
  kw_stream *first = kw_test_stream();
  kw_event *events[WAITS - 1];
  kw_gate *gate = kw_gate_close(first);
  for (int i = 0; i < WAITS - 1; i++) {
    events[i] = kw_test_event();
    KW_CHECK_OK(kw_event_record(events[i], first));
    KW_CHECK_OK(kw_stream_wait_event(self.consumer, events[i]));
  }
  KW_CHECK_OK(kw_event_record(self.event, self.producer));
  KW_CHECK_OK(kw_stream_wait_event(self.consumer, self.event));
  handover_consume(&self);
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(first));
  handover_end(&self, "data behind the last of 40 events that a stream waits for");
  for (int i = 0; i < WAITS - 1; i++) KW_CHECK_OK(kw_event_destroy(events[i]));
  KW_CHECK_OK(kw_stream_destroy(first));
}

/* Order carries over a chain: each stream waits for the one before it. */
void kw_contract_event_chain_of_streams(void **state) {
  (void)state;
  kw_test_need(GATED);
  enum { LINKS = 8 };
  handover self = handover_begin(3);
  kw_stream *links[LINKS];
  kw_event *events[LINKS];
  KW_CHECK_OK(kw_event_record(self.event, self.producer));
  for (int i = 0; i < LINKS; i++) {
    links[i] = kw_test_stream();
    events[i] = kw_test_event();
    KW_CHECK_OK(kw_stream_wait_event(links[i], i ? events[i - 1] : self.event));
    KW_CHECK_OK(kw_event_record(events[i], links[i]));
  }
  KW_CHECK_OK(kw_stream_wait_event(self.consumer, events[LINKS - 1]));
  handover_consume(&self);
  handover_end(&self, "data handed along a chain of eight streams");
  for (int i = 0; i < LINKS; i++) {
    KW_CHECK_OK(kw_event_destroy(events[i]));
    KW_CHECK_OK(kw_stream_destroy(links[i]));
  }
}

/* A stream may wait for an event of its own: that is order which it has anyway. */
void kw_contract_event_wait_on_own_stream(void **state) {
  (void)state;
  kw_stream *stream = kw_test_stream();
  kw_event *event = kw_test_event();
  for (int i = 0; i < 20; i++) {
    KW_CHECK_OK(kw_event_record(event, stream));
    KW_CHECK_OK(kw_stream_wait_event(stream, event));
  }
  kw_test_busy(stream);
  KW_CHECK_OK(kw_event_destroy(event));
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Time between passed events does not run backwards; a device without clocks says KW_ERR_UNSUPPORTED. */
void kw_contract_event_elapsed(void **state) {
  (void)state;
  kw_stream *stream = kw_test_stream();
  kw_event *events[3];
  for (int i = 0; i < 3; i++) {
    events[i] = kw_test_event();
    KW_CHECK_OK(kw_event_record(events[i], stream));
    kw_test_busy(stream);
  }
  KW_CHECK_OK(kw_stream_synchronize(stream));
  uint64_t first = 0, whole = 0, second = 0;
  kw_status status = kw_event_elapsed(events[0], events[1], &first);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("the device does not measure time between events");
  KW_CHECK_STATUS(status, KW_OK);
  KW_CHECK_OK(kw_event_elapsed(events[1], events[2], &second));
  KW_CHECK_OK(kw_event_elapsed(events[0], events[2], &whole));
  KW_CHECK(whole >= first && whole >= second, "from event 0 to 2 it took %llu ns, to 1 %llu ns, from 1 to 2 %llu ns",
           (unsigned long long)whole, (unsigned long long)first, (unsigned long long)second);
  KW_CHECK(whole > 0 && whole < UINT64_C(3600000000000), "%llu ns between two events of one short test",
           (unsigned long long)whole);
  for (int i = 0; i < 3; i++) KW_CHECK_OK(kw_event_destroy(events[i]));
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* A stream of this device may wait for another device's event, and the other way round. */
void kw_contract_event_other_device(void **state) {
  (void)state;
  const char *name = NULL;
  kw_device *other = kw_test_other_device(&name);
  if (!other) kw_test_skip("there is no other device");
  kw_stream *here = kw_test_stream(), *there = NULL;
  kw_event *event_here = kw_test_event(), *event_there = NULL;
  KW_CHECK_OK(kw_stream_create(other, &there));
  KW_CHECK_OK(kw_event_create(other, &event_there));
  for (int i = 0; i < 5; i++) {
    KW_CHECK_OK(kw_event_record(event_here, here));
    KW_CHECK_OK(kw_stream_wait_event(there, event_here));
    KW_CHECK_OK(kw_event_record(event_there, there));
    KW_CHECK_OK(kw_stream_wait_event(here, event_there));
    kw_test_busy(here);
    KW_CHECK_OK(kw_stream_synchronize(there));
  }
  KW_CHECK_OK(kw_event_destroy(event_here));
  KW_CHECK_OK(kw_event_destroy(event_there));
  KW_CHECK_OK(kw_stream_destroy(here));
  KW_CHECK_OK(kw_stream_destroy(there));
  KW_CHECK_OK(kw_device_close(other));
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: events whose slots are called directly, by several threads, in orders that a host may take.
 */
#include "bench.h"
#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

enum { SIZE = 10000, GATED = KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS };

static unsigned char sent[SIZE], got[2][SIZE];

static void count_up(void *user) {
  atomic_fetch_add((atomic_int *)user, 1);
}

/* ---- Recorded again ---------------------------------------------------------------------------------------------- */

static kw_status wait_for_event(void *event) {
  return KW_SLOT(event, synchronize, event, KW_WAIT_FOREVER);
}

int kw_child_slots_rerecord(void) {
  kw_bench_open();
  void *first = kw_bench_stream(1), *second = kw_bench_stream(2), *event = kw_bench_event();
  for (uint64_t round = 0; round < kw_soak_count(1, 3, 50); round++) {
    static kw_bench_caller waiter;
    kw_gate *gate = kw_bench_shut(first), *later = kw_bench_shut(second);
    KW_SLOT_OK(event, record, event, first);
    waiter = (kw_bench_caller){.call = wait_for_event, .user = event};
    kw_bench_start(&waiter);
    const bool waits = kw_bench_is_stuck(&waiter);
    if (waits) { /* otherwise the mark that it waits for may be either */
      KW_SLOT_OK(event, record, event, second);
      KW_CHECK(!atomic_load(&waiter.done),
               "a wait for an event returned when it was recorded again, before the mark "
               "that it had then was passed");
    }
    kw_gate_open(gate);
    kw_test_waits("the end of a wait for an event whose mark has passed, and which was recorded again meanwhile");
    const kw_status status = kw_bench_join(&waiter);
    kw_gate_check();
    KW_CHECK(status == KW_OK, "a wait for an event that was recorded again meanwhile gave %s", kw_status_name(status));
    if (waits) KW_SLOT_STATUS(KW_ERR_NOT_READY, event, query, event);
    kw_gate_open(later);
    KW_SLOT_OK(event, synchronize, event, KW_WAIT_FOREVER);
    kw_bench_wait(first);
    kw_bench_wait(second);
  }
  KW_SLOT_OK(event, destroy, event);
  kw_bench_end_stream(first);
  kw_bench_end_stream(second);
  kw_bench_close();
  return 0;
}

/* A thread that waits for an event waits for the mark of then, also when the event is recorded again meanwhile. */
void kw_contract_slots_recorded_while_awaited(void **state) {
  (void)state;
  kw_test_need(GATED);
  kw_test_child("slots_rerecord");
}

/* ---- Fresh ------------------------------------------------------------------------------------------------------- */

int kw_child_slots_fresh(void) {
  enum { EVENTS = 8 };
  void *events[EVENTS];
  kw_bench_open();
  void *stream = kw_bench_stream(1), *other = kw_bench_stream(2);
  kw_gate *gate = kw_bench_shut(stream);
  for (int i = 0; i < EVENTS; i++) {
    events[i] = kw_bench_event();
    KW_SLOT_OK(event, record, events[i], stream);
  }
  for (int i = 0; i < EVENTS; i++) KW_SLOT_OK(event, destroy, events[i]);
  for (int i = 0; i < EVENTS; i++) events[i] = kw_bench_event();
  for (int i = 0; i < EVENTS; i++) {
    KW_SLOT_OK(event, query, events[i]);
    KW_SLOT_OK(event, synchronize, events[i], 0);
    KW_SLOT_OK(event, wait, other, events[i]);
  }
  kw_gate_open(gate);
  kw_bench_wait(other);
  for (int i = 0; i < EVENTS; i++) KW_SLOT_OK(event, destroy, events[i]);
  kw_bench_wait(stream);
  kw_bench_end_stream(stream);
  kw_bench_end_stream(other);
  kw_bench_close();
  return 0;
}

/* An event that was created when others had been destroyed, whose marks are still ahead, has no mark. */
void kw_contract_slots_fresh_after_destroyed(void **state) {
  (void)state;
  kw_test_need(GATED);
  kw_test_child("slots_fresh");
}

/* ---- Lives ------------------------------------------------------------------------------------------------------- */

/* The event's stream is destroyed: at once, when it was idle, or with the mark still ahead. */
static void outlive(bool is_ahead, void *other) {
  static atomic_int ran;
  void *event = kw_bench_event(), *stream = kw_bench_stream(is_ahead ? 3 : 2);
  atomic_store(&ran, 0);
  kw_gate *gate = is_ahead ? kw_bench_shut(stream) : NULL;
  kw_bench_call(stream, kw_test_slow_flag, &ran);
  KW_SLOT_OK(event, record, event, stream);
  if (is_ahead) {
    kw_bench_open_when_stuck(gate);
  } else {
    kw_bench_wait(stream);
  }
  kw_bench_end_stream(stream);
  if (!is_ahead) KW_SLOT_OK(event, query, event);
  void *later = kw_bench_stream(is_ahead ? 5 : 4); /* maybe where the one before was */
  if (!is_ahead) KW_SLOT_OK(event, query, event);
  KW_SLOT_OK(event, wait, other, event);
  kw_bench_wait(other);
  KW_SLOT_OK(event, synchronize, event, KW_WAIT_FOREVER);
  KW_CHECK(atomic_load(&ran),
           "a wait for an event of a stream that was destroyed returned before its work had finished");
  KW_SLOT_OK(event, query, event);
  KW_SLOT_OK(event, record, event, later);
  KW_SLOT_OK(event, synchronize, event, KW_WAIT_FOREVER);
  KW_SLOT_OK(event, destroy, event);
  kw_bench_end_stream(later);
}

int kw_child_slots_outlives(void) {
  kw_bench_open();
  void *other = kw_bench_stream(1);
  for (uint64_t round = 0; round < kw_soak_count(1, 3, 50); round++) {
    outlive(false, other);
    outlive(true, other);
  }
  kw_bench_end_stream(other);
  kw_bench_close();
  return 0;
}

/* An event lives until its own destroy: that of the stream on which it was recorded changes nothing. */
void kw_contract_slots_event_outlives_stream(void **state) {
  (void)state;
  kw_test_need(GATED);
  kw_test_child("slots_outlives");
}

/* ---- Waits of streams -------------------------------------------------------------------------------------------- */

typedef struct two_readers {
  void *producer, *readers[2], *bystander;
  kw_mem mem;
  atomic_int ran; /* readers that have read */
} two_readers;

/* What the producer writes behind a gate is read by two streams that wait for one event. In between the event is what
 * `meanwhile` makes of it. A stream that does not wait is seen by its count or by what it read, whichever comes first,
 * and is told of in the same words. */
static void read_twice(two_readers *t, uint64_t tag, void (*meanwhile)(two_readers *t, void **event)) {
  void *event = kw_bench_event();
  kw_test_pattern(sent, SIZE, tag);
  memset(got, 0, sizeof got);
  atomic_store(&t->ran, 0);
  kw_gate *gate = kw_bench_shut(t->producer);
  kw_bench_write(t->producer, t->mem, sent, SIZE);
  KW_SLOT_OK(event, record, event, t->producer);
  for (int i = 0; i < 2; i++) {
    KW_SLOT_OK(event, wait, t->readers[i], event);
    kw_bench_read(t->readers[i], t->mem, got[i], SIZE);
    kw_bench_call(t->readers[i], count_up, &t->ran);
  }
  meanwhile(t, &event);
  kw_bench_busy(t->bystander);
  const int early = atomic_load(&t->ran);
  kw_gate_open(gate);
  for (int i = 0; i < 2; i++) kw_bench_wait(t->readers[i]);
  bool same = true;
  for (int i = 0; i < 2; i++) same = same && !memcmp(got[i], sent, SIZE);
  KW_CHECK(early == 0 && same, "one of two streams that wait for one event read before the event had passed");
  kw_bench_wait(t->producer);
  if (event) KW_SLOT_OK(event, destroy, event);
}

static void do_nothing(two_readers *t, void **event) {
  (void)t, (void)event;
}

static void record_elsewhere(two_readers *t, void **event) {
  KW_SLOT_OK(event, record, *event, t->bystander);
  KW_SLOT_OK(event, synchronize, *event, KW_WAIT_FOREVER);
}

/* Another event, maybe where the one before was, passes at once. */
static void replace(two_readers *t, void **event) {
  KW_SLOT_OK(event, destroy, *event);
  *event = kw_bench_event();
  record_elsewhere(t, event);
}

static void destroy(two_readers *t, void **event) {
  (void)t;
  KW_SLOT_OK(event, destroy, *event);
  *event = NULL;
}

static void read_with_all_fates(two_readers *t) {
  static void (*const fates[])(two_readers *, void **) = {do_nothing, record_elsewhere, replace, destroy};
  for (uint64_t i = 0; i < sizeof fates / sizeof fates[0]; i++) read_twice(t, 1 + i, fates[i]);
}

int kw_child_slots_readers(void) {
  static two_readers t;
  kw_bench_open();
  t.producer = kw_bench_stream(1);
  t.bystander = kw_bench_stream(2);
  for (int i = 0; i < 2; i++) t.readers[i] = kw_bench_stream(3 + (uint64_t)i);
  t.mem = kw_bench_memory(SIZE);
  read_with_all_fates(&t);
  void *usual = kw_bench_default_stream(5);
  if (usual) {
    static two_readers from_usual, into_usual;
    from_usual = into_usual = t;
    from_usual.producer = into_usual.readers[0] = usual;
    read_with_all_fates(&from_usual);
    read_with_all_fates(&into_usual);
    kw_bench_end_stream(usual);
  }
  kw_bench_free(t.mem);
  for (int i = 0; i < 2; i++) kw_bench_end_stream(t.readers[i]);
  kw_bench_end_stream(t.producer);
  kw_bench_end_stream(t.bystander);
  kw_bench_close();
  return 0;
}

/* Any number of streams may wait for one mark, each by itself, whatever becomes of the event meanwhile: it is recorded
 * elsewhere, destroyed, another takes its place. So for the default stream, which records the mark or waits for it. */
void kw_contract_slots_streams_wait_for_mark(void **state) {
  (void)state;
  kw_test_need(GATED);
  kw_test_child("slots_readers");
}

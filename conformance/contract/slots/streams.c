/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: streams whose slots are called directly. Keyway waits before it destroys a stream, keeps its own account
 * of what was enqueued, and serves one wait after another; a plugin must not count on any of that.
 */
#include "launch.h"

#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

enum { SIZE = 10000, LAUNCHES = 20 };

static unsigned char sent[SIZE], got[SIZE];

/* ---- Destroyed with work ----------------------------------------------------------------------------------------- */

static void destroy_with_work(const kw_launch *launch, kw_mem mem, uint64_t round, void *other) {
  static atomic_int done;
  kw_mem results[LAUNCHES];
  for (int i = 0; launch && i < LAUNCHES; i++) results[i] = kw_launch_result(launch);
  void *stream = kw_bench_stream(round + 1);
  kw_test_pattern(sent, SIZE, round);
  memset(got, 0, SIZE);
  atomic_store(&done, 0);
  kw_gate *gate = kw_bench_shut(stream);
  kw_bench_write(stream, mem, sent, SIZE);
  for (int i = 0; launch && i < LAUNCHES; i++) kw_launch_run(launch, stream, results[i], 100 + (uint64_t)i);
  kw_bench_read(stream, mem, got, SIZE);
  kw_bench_call(stream, kw_test_slow_flag, &done);
  kw_bench_open_when_stuck(gate);
  kw_bench_end_stream(stream);
  kw_bench_await(&done, "work that was queued on a stream when it was destroyed"); /* destroy need not have waited */
  kw_test_same(got, sent, SIZE, "what was copied on a stream that was destroyed while it was queued");
  for (int i = 0; launch && i < LAUNCHES; i++) {
    kw_launch_expect(launch, other, results[i],
                     "the result of a launch whose stream was destroyed while it was queued");
    kw_bench_free(results[i]);
  }
}

static kw_status destroy_stream(void *stream) {
  return KW_SLOT(stream, destroy, stream);
}

/* The work is behind a wait for another stream's event. */
static void destroy_while_it_waits(kw_mem mem, uint64_t round, void *other) {
  static unsigned char before[SIZE];
  static kw_bench_caller destroyer;
  static atomic_int done;
  void *stream = kw_bench_stream(2000 + round), *event = kw_bench_event();
  kw_test_pattern(sent, SIZE, 3000 + round);
  kw_test_pattern(before, SIZE, 4000 + round);
  memset(got, 0, SIZE);
  atomic_store(&done, 0);
  kw_bench_write(other, mem, before, SIZE);
  kw_bench_wait(other);
  kw_gate *gate = kw_bench_shut(other);
  kw_bench_write(other, mem, sent, SIZE);
  KW_SLOT_OK(event, record, event, other);
  KW_SLOT_OK(event, wait, stream, event);
  kw_bench_read(stream, mem, got, SIZE);
  kw_bench_call(stream, kw_test_slow_flag, &done);
  destroyer = (kw_bench_caller){.call = destroy_stream, .user = stream};
  kw_bench_start(&destroyer);
  (void)kw_bench_is_stuck(&destroyer); /* or it need not wait; who gives the wait up has read by then */
  kw_gate_open(gate);
  KW_CHECK(kw_bench_join(&destroyer) == KW_OK, "stream.destroy failed while the stream waited for an event");
  kw_bench_await(&done, "work behind a wait for an event, queued on a stream when it was destroyed");
  kw_bench_wait(other);
  kw_test_same(got, sent, SIZE,
               "what was read behind a wait for another stream's event, on a stream that was destroyed meanwhile");
  KW_SLOT_OK(event, destroy, event);
}

int kw_child_slots_destroy(void) {
  kw_bench_open();
  kw_launch *launch = kw_launch_draw();
  void *other = kw_bench_stream(1000);
  const kw_mem mem = kw_bench_memory(SIZE);
  for (uint64_t round = 0; round < kw_soak_count(1, 3, 50); round++) {
    destroy_with_work(launch, mem, round, other);
    if (kw_bench.guest.event) destroy_while_it_waits(mem, round, other);
  }
  kw_bench_free(mem);
  kw_bench_end_stream(other);
  kw_launch_free(launch);
  kw_bench_close();
  return 0;
}

/* Work in flight finishes when its stream is destroyed, launches too, and not before what it waits for. */
void kw_contract_slots_destroy_with_work(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_destroy");
}

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

typedef struct last_command {
  kw_launch *launch; /* NULL: the device has none to try */
  kw_mem mem, result;
  void *event, *other; /* another stream's event, and that stream; NULL without events */
} last_command;

enum { LAST_NOTHING, LAST_COPY, LAST_FILL, LAST_LAUNCH, LAST_CALL, LAST_EVENT, LAST_WAIT, LAST_KINDS };

static const char *const last_names[LAST_KINDS] = {"a host function that is running",
                                                   "a copy",
                                                   "a fill",
                                                   "a launch",
                                                   "a host function",
                                                   "an event",
                                                   "a wait for an event"};

/* False where the plugin has no such slot. */
static bool enqueue(last_command *l, void *stream, int kind, atomic_int *done) {
  static const uint32_t pattern = 0x01020304;
  switch (kind) {
    case LAST_COPY:
      kw_bench_read(stream, l->mem, got, SIZE);
      return true;
    case LAST_FILL:
      if (!kw_bench.guest.memory->fill) return false;
      KW_SLOT_OK(memory, fill, stream, l->mem, 0, SIZE, &pattern, sizeof pattern);
      return true;
    case LAST_LAUNCH:
      if (l->launch) kw_launch_run(l->launch, stream, l->result, 1);
      return l->launch != NULL;
    case LAST_CALL:
      kw_bench_call(stream, kw_test_slow_flag, done);
      return true;
    case LAST_EVENT:
      if (l->event) KW_SLOT_OK(event, record, l->event, stream);
      return l->event != NULL;
    case LAST_WAIT:
      if (l->event) KW_SLOT_OK(event, record, l->event, l->other);
      if (l->event) KW_SLOT_OK(event, wait, stream, l->event);
      return l->event != NULL;
    default:
      return true;
  }
}

static void expect_ahead(void *stream, uint64_t limit, const char *last) {
  kw_test_calls(__FILE__, __LINE__, "stream.synchronize");
  const kw_status status = KW_SLOT(stream, synchronize, stream, limit);
  kw_gate_check();
  KW_CHECK(
      status == KW_ERR_TIMEOUT,
      "called directly: stream.synchronize with a limit of %llu ns gave %s, not KW_ERR_TIMEOUT, while the stream was "
      "held up and had been given %s last",
      (unsigned long long)limit, kw_status_name(status), last);
}

static void wait_for_last(last_command *l, int kind) {
  static atomic_int first, last;
  void *stream = kw_bench_stream(10 + (uint64_t)kind);
  atomic_store(&first, 0);
  kw_gate *gate = kw_bench_shut(stream);
  kw_bench_call(stream, kw_test_slow_flag, &first);
  const bool there = enqueue(l, stream, kind, &last);
  if (there) {
    expect_ahead(stream, 0, last_names[kind]);
    expect_ahead(stream, 1000000, last_names[kind]);
    if (kw_bench.guest.stream->query) KW_SLOT_STATUS(KW_ERR_NOT_READY, stream, query, stream);
    expect_ahead(stream, 1, last_names[kind]);
  }
  kw_gate_open(gate);
  kw_bench_wait(stream);
  KW_CHECK(atomic_load(&first),
           "stream.synchronize returned before the work of the stream had finished; it was given %s "
           "last",
           last_names[kind]);
  if (kw_bench.guest.stream->query) KW_SLOT_OK(stream, query, stream);
  kw_bench_end_stream(stream);
}

int kw_child_slots_waits(void) {
  kw_bench_open();
  last_command l = {.launch = kw_launch_draw(), .mem = kw_bench_memory(SIZE), .other = kw_bench_stream(9)};
  if (l.launch) l.result = kw_launch_result(l.launch);
  if (kw_bench.guest.event) l.event = kw_bench_event();
  for (int kind = 0; kind < LAST_KINDS; kind++) wait_for_last(&l, kind);
  if (l.event) KW_SLOT_OK(event, destroy, l.event);
  if (l.launch) kw_bench_free(l.result);
  kw_launch_free(l.launch);
  kw_bench_free(l.mem);
  kw_bench_end_stream(l.other);
  kw_bench_close();
  return 0;
}

/* Whatever a stream was given last, a wait for it is a wait for all, ends at its limit, and a query tells the same. */
void kw_contract_slots_waits_for_all_kinds(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_waits");
}

/* ---- Two at a time ----------------------------------------------------------------------------------------------- */

static kw_status wait_for_stream(void *stream) {
  return KW_SLOT(stream, synchronize, stream, KW_WAIT_FOREVER);
}

static kw_status wait_for_event(void *event) {
  return KW_SLOT(event, synchronize, event, KW_WAIT_FOREVER);
}

/* Both wait for `object`, which lies behind the gate of this stream: `call` without limit, `brief` for a moment. While
 * the first waits the stream is given more work, which nobody waits for here. */
static void wait_twice(kw_status (*call)(void *), kw_status (*brief)(void *), void *object, last_command *more,
                       void *stream, kw_gate *gate, const char *what) {
  static kw_bench_caller first, second;
  static atomic_int done;
  first = (kw_bench_caller){.call = call, .user = object};
  second = (kw_bench_caller){.call = call, .user = object};
  kw_bench_start(&first);
  (void)kw_bench_is_stuck(&first); /* where that is not known this finds less, no more */
  for (int kind = LAST_COPY; kind < LAST_EVENT; kind++) (void)enqueue(more, stream, kind, &done);
  kw_test_calls(__FILE__, __LINE__, "a second wait, of 1 ms");
  kw_status status = brief(object);
  kw_gate_check();
  KW_CHECK(status == KW_ERR_TIMEOUT, "a second wait for %s that is held up gave %s, not KW_ERR_TIMEOUT at its limit",
           what, kw_status_name(status));
  kw_bench_start(&second);
  const bool both_wait = kw_bench_is_stuck(&first) && kw_bench_is_stuck(&second);
  KW_CHECK(!atomic_load(&first.done) && !atomic_load(&second.done), "a wait for %s that is held up has returned", what);
  kw_gate *later = both_wait ? kw_bench_shut_behind(stream) : NULL;
  kw_gate_open(gate);
  kw_test_waits("a wait for what the stream had been given before");
  status = kw_bench_join(&first);
  if (status == KW_OK) status = kw_bench_join(&second);
  kw_gate_check();
  if (later) kw_gate_open(later);
  KW_CHECK(status == KW_OK, "of two waits for %s one gave %s", what, kw_status_name(status));
}

static kw_status wait_briefly_for_stream(void *stream) {
  return KW_SLOT(stream, synchronize, stream, 1000000);
}

static kw_status wait_briefly_for_event(void *event) {
  return KW_SLOT(event, synchronize, event, 1000000);
}

int kw_child_slots_waiters(void) {
  kw_bench_open();
  last_command more = {.launch = kw_launch_draw(), .mem = kw_bench_memory(SIZE)};
  if (more.launch) more.result = kw_launch_result(more.launch);
  void *stream = kw_bench_stream(1);
  for (uint64_t round = 0; round < kw_soak_count(1, 3, 50); round++) {
    kw_gate *gate = kw_bench_shut(stream);
    wait_twice(wait_for_stream, wait_briefly_for_stream, stream, &more, stream, gate, "a stream");
    kw_bench_wait(stream);
    if (!kw_bench.guest.event) continue;
    void *event = kw_bench_event();
    gate = kw_bench_shut(stream);
    KW_SLOT_OK(event, record, event, stream);
    wait_twice(wait_for_event, wait_briefly_for_event, event, &more, stream, gate, "an event");
    KW_SLOT_OK(event, destroy, event);
    kw_bench_wait(stream);
  }
  if (more.launch) kw_bench_free(more.result);
  kw_launch_free(more.launch);
  kw_bench_free(more.mem);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* Several threads may wait for one stream or event at once, and each waits until its own wait is over; who gives the
 * stream work meanwhile does not wait with them. */
void kw_contract_slots_waiters_at_once(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_waiters");
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static void ask_until_passed(kw_status (*ask)(void *object), void *object, const char *what) {
  const kw_status status = kw_bench_ask(ask, object, what);
  KW_CHECK(status == KW_OK, "%s gave %s", what, kw_status_name(status));
}

static kw_status ask_event(void *event) {
  return KW_SLOT(event, query, event);
}

static kw_status ask_stream(void *stream) {
  return KW_SLOT(stream, query, stream);
}

int kw_child_slots_queries(void) {
  kw_bench_open();
  void *stream = kw_bench_stream(1), *other = kw_bench_stream(2);
  void *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  kw_launch *launch = kw_launch_draw();
  const kw_mem mem = kw_bench_memory(SIZE), result = launch ? kw_launch_result(launch) : NULL;
  for (uint64_t round = 0; round < kw_soak_count(1, 3, 50); round++) {
    kw_test_pattern(sent, SIZE, round);
    kw_bench_write(stream, mem, sent, SIZE);
    if (launch) kw_launch_run(launch, stream, result, round);
    kw_bench_read(stream, mem, got, SIZE);
    if (event) {
      KW_SLOT_OK(event, record, event, stream);
      ask_until_passed(ask_event, event, "event.query, asked time and again, while nothing else was called");
      kw_test_same(got, sent, SIZE, "what was read before an event that has passed, as event.query says");
      KW_SLOT_OK(event, record, event, stream);
      KW_SLOT_OK(event, wait, other, event);
    }
    if (kw_bench.guest.stream->query)
      ask_until_passed(ask_stream, event ? other : stream,
                       "stream.query, asked time and again, while nothing else was called");
  }
  kw_bench_wait(stream);
  kw_bench_wait(other);
  if (event) KW_SLOT_OK(event, destroy, event);
  if (launch) kw_bench_free(result);
  kw_launch_free(launch);
  kw_bench_free(mem);
  kw_bench_end_stream(stream);
  kw_bench_end_stream(other);
  kw_bench_close();
  return 0;
}

/* What has been enqueued gets on although nobody waits for it: who only asks is told at last that it has passed. */
void kw_contract_slots_queries_see_progress(void **state) {
  (void)state;
  if (!(kw_device_native(kw_contract.device) & (KW_NATIVE_QUERY | KW_NATIVE_EVENTS))) kw_test_need(KW_NATIVE_QUERY);
  kw_test_child("slots_queries");
}

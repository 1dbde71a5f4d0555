/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: when waits end that are called directly. A limit is a number of nanoseconds up to UINT64_MAX - 1, which
 * is more than any clock holds once it is added to the time of day, or is counted in another unit.
 */
#include "bench.h"

#include "contract/hold.h"
#include "contract/scenarios.h"

#define SECONDS UINT64_C(1000000000)
#define MILLISECONDS UINT64_C(1000000)

/* A wait for a stream or an event. */
typedef struct limited {
  void *stream, *event; /* of which one is waited for: the event, where there is one */
  uint64_t limit;
} limited;

static kw_status wait_limited(void *user) {
  const limited *l = user;
  return l->event ? KW_SLOT(event, synchronize, l->event, l->limit) : KW_SLOT(stream, synchronize, l->stream, l->limit);
}

/* Waits for the stream, held up, or for an event behind that, in a thread of its own; it is let go when that thread
 * waits. `meanwhile` is done before. All of these limits lie years or at least hours ahead. */
static void wait_long(const limited *l, void (*meanwhile)(void *other), void *other, const char *when) {
  static kw_bench_caller waiter;
  static limited what;
  const char *object = l->event ? "an event" : "a stream";
  what = *l;
  waiter = (kw_bench_caller){.call = wait_limited, .user = &what};
  kw_gate *gate = kw_bench_shut(l->stream);
  if (l->event) KW_SLOT_OK(event, record, l->event, l->stream);
  kw_bench_start(&waiter);
  (void)kw_bench_is_stuck(&waiter); /* where that is not known this finds less, no more */
  if (meanwhile) meanwhile(other);
  const bool early = atomic_load(&waiter.done);
  kw_gate_open(gate);
  kw_test_waits("the end of a wait with a large limit");
  const kw_status status = kw_bench_join(&waiter);
  kw_gate_check();
  KW_CHECK(status == KW_OK, "a wait of %llu ns for %s, which was held up for less than that, gave %s%s",
           (unsigned long long)l->limit, object, kw_status_name(status), when);
  KW_CHECK(!early, "a wait of %llu ns for %s that is held up gave KW_OK%s", (unsigned long long)l->limit, object, when);
  kw_bench_wait(l->stream);
}

/* ---- Large limits ------------------------------------------------------------------------------------------------ */

int kw_child_slots_limits(void) {
  static const uint64_t limits[] = {
      86400 * SECONDS - 1, /* a part of a second that carries into the seconds of any time of day */
      UINT64_MAX - 1,
      (uint64_t)INT64_MAX + 1,
      INT64_MAX,
      (UINT64_C(1) << 62) + 1,
      (UINT64_C(1) << 31) * SECONDS,
      (UINT64_C(1) << 32) * SECONDS,
      (UINT64_C(1) << 31) * MILLISECONDS,
      (UINT64_C(1) << 32) * MILLISECONDS,
      UINT64_C(1) << 42, /* of which 32 bits are 0 */
  };
  kw_bench_open();
  void *stream = kw_bench_stream(1), *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    wait_long(&(limited){stream, NULL, limits[i]}, NULL, NULL, "");
    if (event) wait_long(&(limited){stream, event, limits[i]}, NULL, NULL, "");
  }
  if (event) KW_SLOT_OK(event, destroy, event);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* A wait does not end at its limit before that has passed, however far it is. */
void kw_contract_slots_large_limits(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_limits");
}

/* ---- Woken ------------------------------------------------------------------------------------------------------- */

int kw_child_slots_wakes(void) {
  static const char when[] = " when work of another stream had finished";
  kw_bench_open();
  void *stream = kw_bench_stream(1), *other = kw_bench_stream(2);
  void *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  const uint64_t day = 86400 * SECONDS;
  wait_long(&(limited){stream, NULL, day}, kw_bench_busy, other, when);
  if (event) wait_long(&(limited){stream, event, day}, kw_bench_busy, other, when);
  if (event) KW_SLOT_OK(event, destroy, event);
  kw_bench_end_stream(stream);
  kw_bench_end_stream(other);
  kw_bench_close();
  return 0;
}

/* Who waits with a limit is not woken for the last time when something else has finished. */
void kw_contract_slots_wait_outlasts_others(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_wakes");
}

/* ---- At the mark ------------------------------------------------------------------------------------------------- */

int kw_child_slots_mark(void) {
  kw_bench_open();
  void *stream = kw_bench_stream(1), *event = kw_bench_event();
  static limited what;
  static kw_bench_caller waiter;
  what = (limited){stream, event, KW_WAIT_FOREVER};
  waiter = (kw_bench_caller){.call = wait_limited, .user = &what};
  kw_gate *ahead = kw_bench_shut(stream);
  KW_SLOT_OK(event, record, event, stream);
  kw_gate *behind = kw_bench_shut_behind(stream);
  kw_bench_start(&waiter);
  (void)kw_bench_is_stuck(&waiter); /* where that is not known this finds less, no more */
  kw_gate_open(ahead);
  kw_bench_await(&waiter.done,
                 "a wait for an event that has passed, while what comes behind it on its stream is held; does it wait "
                 "for the stream?");
  const kw_status status = kw_bench_join(&waiter);
  KW_CHECK(status == KW_OK, "a wait for an event that has passed gave %s", kw_status_name(status));
  kw_gate_open(behind);
  kw_bench_wait(stream);
  KW_SLOT_OK(event, destroy, event);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* A wait for an event ends when that has passed, whatever comes behind it on its stream. */
void kw_contract_slots_wait_ends_at_mark(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS);
  kw_test_child("slots_mark");
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: the time between two events, held against a gate whose length the host's clock has measured. The stream
 * stands still between two moments that the host knows, so the device must not have it shorter than that, nor longer
 * than from the first call to the last; how busy the machine is moves both sides alike. And time by events and by the
 * device's clock over seconds.
 */
#include "bench.h"
#include "contract/hold.h"
#include "contract/scenarios.h"

#include "base/clock.h"

#include <time.h>

/* Seconds that a gate is held at least, and what two clocks may differ by: a part, and what they cannot tell apart. */
#define HOLD 0.02
#define DRIFT 0.05
#define BLUR 0.005

typedef struct held_gate {
  kw_gate *gate;
  double before;     /* when the first event was recorded */
  double seconds;    /* to be held, beyond twice what it took to enqueue everything */
  double begin, end; /* of the function, which holds the stream up meanwhile */
} held_gate;

static void hold(void *user) {
  held_gate *self = user;
  self->begin = kw_clock_seconds();
  kw_gate_wait(self->gate);
  const double open = kw_clock_seconds(), until = open + 2 * (open - self->before) + self->seconds;
  while (kw_clock_seconds() < until) continue;
  self->end = kw_clock_seconds();
}

static bool ahead_is_refused(void *start, void *end) {
  uint64_t ns = 0;
  kw_test_calls(__FILE__, __LINE__, "event.elapsed");
  const kw_status status = KW_SLOT(event, elapsed, start, end, &ns);
  kw_gate_check();
  KW_CHECK(status != KW_OK,
           "event.elapsed gave KW_OK, and a time, for an event that is still ahead: nobody can know the time to it");
  return status != KW_ERR_UNSUPPORTED;
}

/* Records an event on each stream around a gate, checks the time between them and gives it. Less than 0: the device
 * does not tell. */
static double measure(void *from, void *to, void *start, void *end, double seconds) {
  static held_gate held;
  uint64_t ns = 0;
  held = (held_gate){.gate = kw_gate_take(from), .before = kw_clock_seconds(), .seconds = seconds};
  KW_CHECK(held.gate, "this test closes too many gates at once");
  KW_SLOT_OK(event, record, start, from);
  kw_bench_call(from, hold, &held);
  const bool waits = kw_gate_await(held.gate);
  kw_gate_check();
  KW_CHECK(waits, "a host function ran on the calling thread, inside call_host: it cannot hold up its stream");
  if (from != to) {
    void *between = kw_bench_event();
    KW_SLOT_OK(event, record, between, from);
    KW_SLOT_OK(event, wait, to, between);
    KW_SLOT_OK(event, destroy, between);
  }
  KW_SLOT_OK(event, record, end, to);
  const bool tells = ahead_is_refused(start, end);
  kw_gate_open(held.gate);
  KW_SLOT_OK(event, synchronize, end, KW_WAIT_FOREVER);
  const double after = kw_clock_seconds();
  kw_bench_wait(from);
  kw_bench_wait(to);
  if (!tells) return -1;
  KW_SLOT_OK(event, elapsed, start, end, &ns);
  const double least = (held.end - held.begin) * (1 - DRIFT) - BLUR, most = (after - held.before) * (1 + DRIFT) + BLUR;
  const double got = (double)ns * 1e-9;
  KW_CHECK(got >= least,
           "event.elapsed gives less than the time for which a host function held the stream up between the "
           "two events, by the host's own clock");
  KW_CHECK(got <= most,
           "event.elapsed gives more than the time from before the first event was recorded to after the "
           "second was waited for, by the host's own clock");
  return got;
}

int kw_child_slots_elapsed(void) {
  kw_bench_open();
  if (!kw_bench.guest.event->elapsed) kw_test_skip("the device does not measure time between events");
  void *first = kw_bench_stream(1), *start = kw_bench_event(), *end = kw_bench_event();
  const double got = measure(first, first, start, end, HOLD);
  if (got < 0) kw_test_skip("the device does not measure time between events");
  measure(first, first, start, end, HOLD + 2 * got); /* the same two: what is kept of the time before is seen */
  void *second = kw_bench_stream(2); /* later by the gates: time is the device's, not that of a stream */
  measure(first, second, start, end, HOLD);
  measure(second, first, start, end, HOLD);
  measure(second, second, start, end, 0);
  KW_SLOT_OK(event, destroy, start);
  KW_SLOT_OK(event, destroy, end);
  kw_bench_end_stream(first);
  kw_bench_end_stream(second);
  kw_bench_close();
  return 0;
}

/* The time between two events is that between their marks, as of their last records, and there is none to a mark that
 * is still ahead. */
void kw_contract_slots_elapsed_spans_gate(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS);
  kw_test_child("slots_elapsed");
}

/* ---- Over seconds ------------------------------------------------------------------------------------------------ */

enum { MOMENTS = 3 };

/* Lets so much time pass. What is judged then are the device's times by themselves, and beside the host's own clock,
 * whatever it was in truth. */
static void pass(double seconds) {
  const double until = kw_clock_seconds() + seconds;
  const struct timespec step = {0, 50000000};
  while (kw_clock_seconds() < until) nanosleep(&step, NULL);
}

/* The whole is as long as both of its parts together. */
static void check_events(void *const events[MOMENTS]) {
  uint64_t first = 0, second = 0, whole = 0;
  kw_test_calls(__FILE__, __LINE__, "event.elapsed");
  if (KW_SLOT(event, elapsed, events[0], events[1], &first) == KW_ERR_UNSUPPORTED) return;
  KW_SLOT_OK(event, elapsed, events[0], events[1], &first);
  KW_SLOT_OK(event, elapsed, events[1], events[2], &second);
  KW_SLOT_OK(event, elapsed, events[0], events[2], &whole);
  const uint64_t sum = first + second, off = whole > sum ? whole - sum : sum - whole;
  KW_CHECK(off <= sum / 1000 + 1000, /* times may be rounded, each by itself */
           "of three events the first and the last are %.2f s %s than the parts between them take together",
           1e-9 * (double)off, whole > sum ? "further apart" : "closer together");
}

/* As much time has passed on the device's clock as on the host's. */
static void check_clocks(const uint64_t device[MOMENTS], const uint64_t host[MOMENTS]) {
  for (int i = 1; i < MOMENTS; i++) {
    const double of_device = 1e-9 * ((double)device[i] - (double)device[0]),
                 of_host = 1e-9 * ((double)host[i] - (double)host[0]), room = of_host * DRIFT + BLUR;
    KW_CHECK(of_device >= of_host - room && of_device <= of_host + room,
             "activity.clock: %s time passed on the device's clock than on the host's, over some seconds",
             of_device < of_host ? "less" : "more");
  }
}

/* Two parts of more than 2^31 nanoseconds each come to more than 2^32. */
int kw_child_slots_seconds(void) {
  kw_bench_open();
  const bool has_events = kw_bench.guest.event && kw_bench.guest.event->elapsed, has_clock = kw_bench.guest.activity;
  if (!has_events && !has_clock) kw_test_skip("the device does not measure time");
  void *stream = kw_bench_stream(1), *events[MOMENTS];
  uint64_t device[MOMENTS], host[MOMENTS];
  for (int i = 0; i < MOMENTS; i++) {
    if (i > 0) pass(kw_contract.effort == KW_EFFORT_QUICK ? 0.05 : 2.2);
    if (has_events) {
      events[i] = kw_bench_event();
      KW_SLOT_OK(event, record, events[i], stream);
      kw_bench_wait(stream);
    }
    if (has_clock) KW_SLOT_OK(activity, clock, &device[i], &host[i]);
  }
  if (has_events) check_events(events);
  if (has_clock) check_clocks(device, host);
  for (int i = 0; i < MOMENTS && has_events; i++) KW_SLOT_OK(event, destroy, events[i]);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

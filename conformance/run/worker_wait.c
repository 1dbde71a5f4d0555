/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for a worker by its own clock.
 */
#include "run/worker_wait.h"

#define STARVED_SHARE 0.5 /* of the time, with somebody waiting for a processor */
#define ASLEEP_SHARE 0.1  /* of the limit: in a second try, which has ten times the limit, that is the first one's */

void kw_wait_begin(kw_wait *wait, const char *proc, pid_t pid, const kw_worker_note *note, double limit,
                   double build_limit, double now) {
  if (build_limit < limit) build_limit = limit;
  *wait = (kw_wait){.limit = limit, .build_limit = build_limit, .note = note, .begun = now};
  wait->note_count = kw_worker_note_count(note);
  wait->note_steps = kw_worker_note_steps(note);
  kw_process_clock_begin(&wait->clock, proc, pid, build_limit, now);
  wait->pressure = kw_cpu_pressure(wait->clock.proc);
}

static bool may_be_building(const kw_wait *wait) {
  bool busy = wait->clock.quiet == 0 && wait->clock.steps > 1 && !wait->clock.blind; /* the first step does not tell */
  return busy && kw_worker_note_read(wait->note, NULL, 0) == KW_WORKER_CALLS;
}

bool kw_wait_goes_on(kw_wait *wait, double now) {
  double before = wait->clock.passed;
  kw_process_clock_step(&wait->clock, now);
  unsigned count = kw_worker_note_count(wait->note);
  if (count != wait->note_count) wait->built_now = 0;
  wait->note_count = count;
  if (may_be_building(wait)) {
    wait->built += wait->clock.passed - before;
    wait->built_now += wait->clock.passed - before;
  }
  const double counted = wait->clock.passed - wait->built;
  const unsigned steps = kw_worker_note_steps(wait->note);
  if (steps != wait->note_steps) wait->stepped = counted;
  wait->note_steps = steps;
  return counted - wait->stepped < wait->limit && wait->built_now < wait->build_limit;
}

kw_wait_end kw_wait_describe(kw_wait *wait, double now) {
  double pressure = kw_cpu_pressure(wait->clock.proc), wall = now - wait->begun;
  bool told = pressure >= 0 && wait->pressure >= 0 && wall > 0;
  kw_wait_end end = {.limit = wait->limit,
                     .building = wait->built_now >= wait->build_limit,
                     .asleep = wait->clock.quiet >= ASLEEP_SHARE * wait->limit,
                     .starved = told && (pressure - wait->pressure) / wall >= STARVED_SHARE,
                     .blind = wait->clock.blind};
  kw_worker_note_read(wait->note, end.text, sizeof end.text);
  return end;
}

void kw_wait_free(kw_wait *wait) {
  kw_process_clock_free(&wait->clock);
}

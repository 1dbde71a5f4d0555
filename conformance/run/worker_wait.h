/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for a worker by the clock of the worker (base/process_clock.h): how long, and what is known when it was too
 * long.
 */
#ifndef KEYWAY_CONFORMANCE_WORKER_WAIT_H
#define KEYWAY_CONFORMANCE_WORKER_WAIT_H

#include "base/process_clock.h"
#include "base/worker_note.h"

#define KW_BUILD_LIMIT 200.0 /* seconds that building kernels may take in one call, whatever the limit is */

typedef struct kw_wait {
  kw_process_clock clock;
  double limit, build_limit; /* seconds */
  double built, built_now;   /* seconds that may have been spent on building: in all, and in the present call */
  double stepped;            /* seconds that count towards the limit before the last step of a long test */
  unsigned note_count, note_steps;
  const kw_worker_note *note;
  double begun, pressure; /* wall time, and kw_cpu_pressure by then */
} kw_wait;

/* How a wait ended that was too long. */
typedef struct kw_wait_end {
  double limit;
  bool building;  /* it was the build limit: the worker was busy for so long in one call that may compile */
  bool asleep;    /* nothing in the worker ran or wanted to, for a tenth of the limit or more */
  bool starved;   /* at least half of the time somebody on the machine waited for a processor; false where it does not
                     tell */
  bool blind;     /* the clock could not tell what the worker had; its time is wall time */
  char text[252]; /* what the worker was in; "" */
} kw_wait_end;

/* `proc` as in kw_process_clock_begin; `note` may be NULL. Time in which the worker is busy in a call that may compile
 * counts as building: not towards the limit, but each call towards the build limit, which is no less than the limit.
 * With each step that the note tells of the limit begins anew. */
void kw_wait_begin(kw_wait *wait, const char *proc, pid_t pid, const kw_worker_note *note, double limit,
                   double build_limit, double now);
/* Called whenever nothing came for a while: whether to go on waiting. */
bool kw_wait_goes_on(kw_wait *wait, double now);
/* Once it does not. */
kw_wait_end kw_wait_describe(kw_wait *wait, double now);
void kw_wait_free(kw_wait *wait);

#endif /* KEYWAY_CONFORMANCE_WORKER_WAIT_H */

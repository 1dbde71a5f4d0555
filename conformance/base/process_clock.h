/* SPDX-License-Identifier: Apache-2.0
 *
 * The time that a process had: wall time less what its threads waited to be run and less what its compilers took. Time
 * limits are measured with it, so that a loaded machine changes no verdict and a process that sleeps still ends.
 *
 * Between two steps of the clock the threads of the process, and of its children that run the same program, waited W
 * seconds together, the busiest of them ran R, and children that run other programs (compilers, as drivers start them)
 * ran or waited C. Of D seconds of wall time D - W - C have passed for the process, but no less than R: so a process
 * that spins comes to its end as well, with more threads than there are cores and on any machine. A thread that steps
 * the clock of its own process is left out: it sleeps in between.
 */
#ifndef KEYWAY_CONFORMANCE_PROCESS_CLOCK_H
#define KEYWAY_CONFORMANCE_PROCESS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct kw_clock_thread kw_clock_thread;

typedef struct kw_process_clock {
  const char *proc; /* where the system shows processes: "/proc", or a test's copy of it */
  pid_t pid;
  double passed;        /* seconds that the process had so far */
  double quiet;         /* seconds since when it has neither run nor wanted to, to speak of */
  double compiled;      /* seconds that were taken off for compilers */
  double compile_limit; /* no more than this is taken off for them */
  bool blind;           /* the system does not tell how long threads wait: all times are wall time */
  double last;          /* wall time of the last step */
  uint64_t steps;
  kw_clock_thread *threads; /* as the last step has seen them */
  uint32_t thread_count;
} kw_process_clock;

/* `now` is the wall time, as kw_clock_seconds gives it; tests give what they like. `proc` NULL: the system's. */
void kw_process_clock_begin(kw_process_clock *clock, const char *proc, pid_t pid, double compile_limit, double now);
/* The time up to `now`. The first step counts as wall time. What a step is longer than a second does not count: the one
 * who measures was not run himself, and cannot know whether the process was. */
void kw_process_clock_step(kw_process_clock *clock, double now);
void kw_process_clock_free(kw_process_clock *clock);

/* For how many seconds, since the system was started, at least one thread waited for a processor
 * (/proc/pressure/cpu); -1 where it does not tell. */
double kw_cpu_pressure(const char *proc);

#endif /* KEYWAY_CONFORMANCE_PROCESS_CLOCK_H */

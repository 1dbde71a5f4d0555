/* SPDX-License-Identifier: Apache-2.0
 *
 * What a parallel loop costs beside its work: empty loops on KEYWAY_THREADS threads (2 where that is not set), one
 * after another; loops of two pieces that wait for each other; an empty loop after a pause, in which the workers have
 * gone to sleep; and one whose grain leaves all to the caller. Times are medians.
 */
#include "base/parallel.h"
#include "median.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 101
#define LOOPS_PER_ROUND 1000
#define MEETINGS_PER_ROUND 100
#define INDICES 1000

static void do_nothing(void *user, int64_t begin, int64_t end) {
  (void)user;
  (void)begin;
  (void)end;
}

/* Two pieces that wait for each other: what it takes to have a second thread at work. */
static void meet(void *user, int64_t begin, int64_t end) {
  atomic_int *arrived = user;
  (void)begin;
  (void)end;
  atomic_fetch_add(arrived, 1);
  while (atomic_load(arrived) < 2) {
  }
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_meetings(int loops) {
  const double begin = now_ns();
  for (int i = 0; i < loops; i++) {
    atomic_int arrived = 0;
    kw_parallel_for(2, 1, meet, &arrived);
  }
  return (now_ns() - begin) / loops;
}

static double time_loops(int loops, int64_t grain) {
  const double begin = now_ns();
  for (int i = 0; i < loops; i++) kw_parallel_for(INDICES, grain, do_nothing, NULL);
  return (now_ns() - begin) / loops;
}

int main(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  double repeated[ROUNDS], meeting[ROUNDS], rested[ROUNDS], undivided[ROUNDS];
  setenv("KEYWAY_THREADS", "2", 0);
  if (kw_parallel_threads() < 2) {
    fprintf(stderr, "bench-parallel: wants two threads at least, and KEYWAY_THREADS says one\n");
    return 1;
  }
  time_loops(LOOPS_PER_ROUND, 1); /* starts the workers */
  for (int round = 0; round < ROUNDS; round++) {
    repeated[round] = time_loops(LOOPS_PER_ROUND, 1);
    undivided[round] = time_loops(LOOPS_PER_ROUND, INDICES);
    meeting[round] = time_meetings(MEETINGS_PER_ROUND);
    nanosleep(&pause, NULL);
    rested[round] = time_loops(1, 1);
  }
  printf("an empty parallel loop on %u threads, ns, median\n", kw_parallel_threads());
  printf("%-28s %10.1f\n", "repeated", kw_median(repeated, ROUNDS));
  printf("%-28s %10.1f\n", "repeated, two threads meet", kw_median(meeting, ROUNDS));
  printf("%-28s %10.1f\n", "after 1 ms of rest", kw_median(rested, ROUNDS));
  printf("%-28s %10.1f\n", "not divided", kw_median(undivided, ROUNDS));
  return 0;
}

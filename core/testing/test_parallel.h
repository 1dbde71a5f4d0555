/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that tell whether every index was visited once, and whether two threads were inside.
 */
#ifndef KEYWAY_CORE_TEST_PARALLEL_H
#define KEYWAY_CORE_TEST_PARALLEL_H

#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define SIZE 10007

typedef struct visits {
  unsigned char times[SIZE]; /* written without atomics: every index belongs to one piece */
  int64_t n, grain;
  atomic_int pieces;
  atomic_bool wrong; /* bounds of a piece */
} visits;

static inline void visit(void *user, int64_t begin, int64_t end) {
  visits *v = user;
  const bool inside = 0 <= begin && begin < end && end <= v->n;
  if (!inside || begin % v->grain != 0 || (end != v->n && end - begin < v->grain)) atomic_store(&v->wrong, true);
  for (int64_t i = begin; inside && i < end; i++) v->times[i]++;
  atomic_fetch_add(&v->pieces, 1);
}

static inline bool is_visited(int64_t n, int64_t grain, visits *v) {
  *v = (visits){.n = n, .grain = grain > 0 ? grain : 1};
  kw_parallel_for(n, grain, visit, v);
  bool right = !atomic_load(&v->wrong);
  for (int64_t i = 0; i < SIZE; i++) right = right && v->times[i] == (i < n);
  return right;
}

/* Two pieces that wait for each other: done only when two threads are inside at once. */
typedef struct meeting {
  atomic_int arrived;
  atomic_bool alone;
} meeting;

static inline void meet(void *user, int64_t begin, int64_t end) {
  meeting *m = user;
  if (end - begin > 1) atomic_store(&m->alone, true); /* this is all of the loop */
  atomic_fetch_add(&m->arrived, 1);
  while (atomic_load(&m->arrived) < 2 && !atomic_load(&m->alone)) sched_yield();
}

static inline bool two_threads_meet(void) {
  meeting m = {0};
  kw_parallel_for(2, 1, meet, &m);
  return !atomic_load(&m.alone) && atomic_load(&m.arrived) == 2;
}

#endif /* KEYWAY_CORE_TEST_PARALLEL_H */

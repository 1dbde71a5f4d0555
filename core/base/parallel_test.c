/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops: every index once, any number of callers, inline after a fork.
 */
#include "base/parallel.h"

#include "base/fork.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZE 10000

typedef struct visits {
  unsigned char times[SIZE]; /* written without atomics: every index belongs to one piece */
  atomic_llong smallest;     /* piece but the last */
  int64_t n;
} visits;

static void visit(void *user, int64_t begin, int64_t end) {
  visits *v = user;
  assert_true(0 <= begin && begin < end && end <= v->n);
  for (int64_t i = begin; i < end; i++) v->times[i]++;
  long long smallest = atomic_load(&v->smallest);
  while (end != v->n && end - begin < smallest && !atomic_compare_exchange_weak(&v->smallest, &smallest, end - begin)) {
  }
}

static void each_index_is_visited_once(void **state) {
  (void)state;
  const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 1000, SIZE}, grains[] = {0, 1, 7, 100, SIZE + 1};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
      visits v = {.n = sizes[s], .smallest = INT64_MAX};
      kw_parallel_for(sizes[s], grains[g], visit, &v);
      for (int64_t i = 0; i < SIZE; i++) assert_int_equal(v.times[i], i < sizes[s]);
      assert_true(atomic_load(&v.smallest) >= grains[g]);
    }
  }
}

/* Two pieces that wait for each other: done only when two threads are inside at once. */
static void meet(void *user, int64_t begin, int64_t end) {
  atomic_int *arrived = user;
  (void)begin;
  (void)end;
  if (atomic_fetch_add(arrived, 1) >= 2) return;
  while (atomic_load(arrived) < 2) sched_yield();
}

static void threads_work_side_by_side(void **state) {
  (void)state;
  assert_int_equal(kw_parallel_threads(), 4);
  atomic_int arrived = 0;
  kw_parallel_for(16, 1, meet, &arrived);
  assert_int_equal(atomic_load(&arrived), 16);
}

typedef struct latecomer {
  pthread_t caller;
  atomic_int arrived;
  atomic_bool finished;
} latecomer;

/* Both threads are inside; then the caller is done at once and the other one is not. */
static void finish_late(void *user, int64_t begin, int64_t end) {
  latecomer *l = user;
  (void)begin;
  (void)end;
  atomic_fetch_add(&l->arrived, 1);
  while (atomic_load(&l->arrived) < 2) sched_yield();
  if (pthread_equal(l->caller, pthread_self())) return;
  for (int i = 0; i < 10000; i++) sched_yield();
  atomic_store(&l->finished, true);
}

static void a_loop_waits_for_its_last_piece(void **state) {
  (void)state;
  latecomer l = {.caller = pthread_self()};
  kw_parallel_for(2, 1, finish_late, &l);
  assert_true(atomic_load(&l.finished));
}

static void nest(void *user, int64_t begin, int64_t end) {
  pthread_t self = pthread_self();
  for (int64_t i = begin; i < end; i++) {
    visits *v = calloc(1, sizeof *v);
    v->n = 64;
    v->smallest = INT64_MAX;
    kw_parallel_for(64, 1, visit, v);
    for (int k = 0; k < 64; k++) assert_int_equal(v->times[k], 1);
    free(v);
    atomic_fetch_add((atomic_int *)user, 1);
  }
  assert_true(pthread_equal(self, pthread_self()));
}

static void nested_loops_run_inline(void **state) {
  (void)state;
  atomic_int count = 0;
  kw_parallel_for(32, 1, nest, &count);
  assert_int_equal(atomic_load(&count), 32);
}

static void *loop_often(void *unused) {
  (void)unused;
  for (int i = 0; i < 200; i++) {
    visits v = {.n = 100, .smallest = INT64_MAX};
    kw_parallel_for(100, 3, visit, &v);
    for (int k = 0; k < 100; k++) {
      if (v.times[k] != 1) abort();
    }
  }
  return NULL;
}

static void callers_share_the_threads(void **state) {
  (void)state;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, loop_often, NULL), 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void after_a_fork_all_runs_inline(void **state) {
  (void)state;
  kw_fork_mark_child();
  visits v = {.n = SIZE, .smallest = INT64_MAX};
  kw_parallel_for(SIZE, 1, visit, &v); /* one piece: the last */
  assert_true(atomic_load(&v.smallest) == INT64_MAX);
  for (int64_t i = 0; i < SIZE; i++) assert_int_equal(v.times[i], 1);
}

int main(void) {
  setenv("KEYWAY_THREADS", "4", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_index_is_visited_once),
      cmocka_unit_test(threads_work_side_by_side),
      cmocka_unit_test(a_loop_waits_for_its_last_piece),
      cmocka_unit_test(nested_loops_run_inline),
      cmocka_unit_test(callers_share_the_threads),
      cmocka_unit_test(after_a_fork_all_runs_inline), /* last: it cannot be undone */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

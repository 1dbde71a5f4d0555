/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops: every index once, any number of callers, workers where they are needed. Where a body waits for another thread,
 * a loop on too few threads does not end. Run with as many threads as CPUs, too, which then spin.
 */
#include "testing/test_parallel.h"

#include <keyway/keyway.h>

#include <string.h>

static void each_index_is_visited_once(void **state) {
  (void)state;
  const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 97, 1000, 4099, SIZE}, grains[] = {-1, 0, 1, 7, 100, 999, SIZE + 1};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
      visits v;
      assert_true(is_visited(sizes[s], grains[g], &v));
      if (sizes[s] <= grains[g]) assert_int_equal(atomic_load(&v.pieces), sizes[s] > 0);
    }
  }
}

static void add_length(void *user, int64_t begin, int64_t end) {
  atomic_fetch_add((atomic_llong *)user, begin >= 0 && begin < end ? end - begin : INT64_MIN);
}

static void the_largest_loop_has_its_bounds(void **state) {
  (void)state;
  const int64_t grains[] = {1, 1000003, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
  for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
    atomic_llong sum = 0;
    kw_parallel_for(INT64_MAX, grains[g], add_length, &sum);
    assert_true(atomic_load(&sum) == INT64_MAX);
  }
}

static void threads_work_side_by_side(void **state) {
  (void)state;
  assert_int_equal(kw_parallel_threads(), strtol(getenv("KEYWAY_THREADS"), NULL, 10));
  for (int i = 0; i < 1000; i++) assert_true(two_threads_meet());
}

typedef struct cancelled {
  volatile int flag;
  atomic_llong done; /* indices */
  atomic_llong longest;
  int64_t after; /* so many indices the flag is set */
} cancelled;

static void count_and_cancel(void *user, int64_t begin, int64_t end) {
  cancelled *c = user;
  if (end - begin > atomic_load(&c->longest)) atomic_store(&c->longest, end - begin);
  if (atomic_fetch_add(&c->done, end - begin) + end - begin >= c->after)
    __atomic_store_n(&c->flag, 1, __ATOMIC_RELAXED);
}

/* Each thread may be in a piece when the flag is set, and finds it set before its next one. */
static void a_watched_loop_is_cut(void **state) {
  (void)state;
  enum { GRAIN = 3, PIECE = 64 * GRAIN };
  const int64_t n = 1000000, slack = (int64_t)kw_parallel_threads() * PIECE;
  cancelled c = {.after = 1000};
  kw_cancel_watch(&c.flag);
  assert_int_equal(kw_parallel_for(n, GRAIN, count_and_cancel, &c), KW_ERR_CANCELLED);
  assert_true(c.done >= c.after && c.done <= c.after + slack);
  assert_true(c.longest <= PIECE);
  assert_int_equal(kw_parallel_for(n, GRAIN, count_and_cancel, &c), KW_ERR_CANCELLED); /* as long as it is set */
  assert_true(c.done <= c.after + slack);
  c = (cancelled){.after = INT64_MAX};
  assert_int_equal(kw_parallel_for(n, GRAIN, count_and_cancel, &c), KW_OK);
  assert_int_equal(c.done, n);
  c.flag = 1;
  assert_int_equal(kw_parallel_for(GRAIN, GRAIN, count_and_cancel, &c), KW_OK); /* one piece is not divided */
  kw_cancel_watch(NULL);
  assert_int_equal(kw_parallel_for(n, GRAIN, count_and_cancel, &c), KW_OK);
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

typedef struct nesting {
  atomic_int arrived;
  atomic_int inline_loops;
} nesting;

/* Begins when a worker is there, too. */
static void nest(void *user, int64_t begin, int64_t end) {
  nesting *n = user;
  atomic_fetch_add(&n->arrived, 1);
  while (atomic_load(&n->arrived) < 2) sched_yield();
  for (int64_t i = begin; i < end; i++) {
    visits v;
    if (is_visited(64, 1, &v) && atomic_load(&v.pieces) == 1) atomic_fetch_add(&n->inline_loops, 1);
  }
}

static void nested_loops_run_inline(void **state) {
  (void)state;
  nesting n = {0};
  kw_parallel_for(32, 1, nest, &n);
  assert_int_equal(atomic_load(&n.inline_loops), 32);
}

/* ---- Several callers --------------------------------------------------------------------------------------------- */

static void *loop_often(void *unused) {
  (void)unused;
  for (int i = 0; i < 200; i++) {
    visits v;
    if (!is_visited(100 + i, 3, &v)) abort();
  }
  return NULL;
}

static void callers_share_the_threads(void **state) {
  (void)state;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, loop_often, NULL), 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

enum { MANY = 40 }; /* callers: more than there may be loops at once */

static atomic_int callers_inside;

typedef struct caller {
  pthread_t thread;
  bool came;
} caller;

/* The caller's first piece waits until all callers have come so far. */
static void wait_for_callers(void *user, int64_t begin, int64_t end) {
  caller *c = user;
  (void)begin;
  (void)end;
  if (!pthread_equal(c->thread, pthread_self()) || c->came) return;
  c->came = true;
  atomic_fetch_add(&callers_inside, 1);
  while (atomic_load(&callers_inside) < MANY) sched_yield();
}

static void *call_among_many(void *unused) {
  (void)unused;
  caller c = {.thread = pthread_self()};
  while (!c.came) kw_parallel_for(1000, 1, wait_for_callers, &c); /* workers may leave no piece to the caller */
  return NULL;
}

static void no_caller_waits_for_another(void **state) {
  (void)state;
  pthread_t threads[MANY];
  for (int i = 0; i < MANY; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_among_many, NULL), 0);
  for (int i = 0; i < MANY; i++) pthread_join(threads[i], NULL);
  assert_int_equal(atomic_load(&callers_inside), MANY);
}

/* A loop that has all threads when another one comes, whose two pieces wait for each other. The first one's threads do
 * one piece each; what is left of it waits for the second loop's end. */
typedef struct pair {
  atomic_int in_first;
  atomic_bool second_open;
  meeting second;
} pair;

static void run_first(void *user, int64_t begin, int64_t end) {
  pair *p = user;
  (void)begin;
  (void)end;
  const bool first_piece = atomic_fetch_add(&p->in_first, 1) < (int)kw_parallel_threads();
  while (first_piece && !atomic_load(&p->second_open)) sched_yield();
  while (!first_piece && atomic_load(&p->second.arrived) < 2) sched_yield();
}

static void run_second(void *user, int64_t begin, int64_t end) {
  pair *p = user;
  atomic_store(&p->second_open, true);
  meet(&p->second, begin, end);
}

static void *call_first(void *user) {
  kw_parallel_for(1000, 1, run_first, user);
  return NULL;
}

static void workers_move_to_a_later_loop(void **state) {
  (void)state;
  if (kw_parallel_threads() < 3) skip(); /* a single worker stays where it is */
  pair p = {0};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, call_first, &p), 0);
  while (atomic_load(&p.in_first) < (int)kw_parallel_threads()) sched_yield();
  kw_parallel_for(2, 1, run_second, &p);
  pthread_join(thread, NULL);
  assert_false(atomic_load(&p.second.alone));
}

int main(void) {
  setenv("KEYWAY_THREADS", "4", 0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_index_is_visited_once),      cmocka_unit_test(a_watched_loop_is_cut),
      cmocka_unit_test(the_largest_loop_has_its_bounds), cmocka_unit_test(threads_work_side_by_side),
      cmocka_unit_test(a_loop_waits_for_its_last_piece), cmocka_unit_test(nested_loops_run_inline),
      cmocka_unit_test(callers_share_the_threads),       cmocka_unit_test(no_caller_waits_for_another),
      cmocka_unit_test(workers_move_to_a_later_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

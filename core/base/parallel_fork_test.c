/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops in forked children: their workers are new ones. Run with as many threads as CPUs, too, which then spin.
 */
#include "testing/test_parallel.h"

#include <keyway/keyway.h>

#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__ /* which ends forked children that start threads, unless told otherwise */
const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void) {
  return "die_after_fork=0";
}
#endif

/* A child's new threads get the stacks of its parent's, if those are large enough, and ThreadSanitizer stops where two
 * threads have one address: these threads' stacks are smaller than the workers'. */
static void start(pthread_t *out_thread, void *(*body)(void *), void *user) {
  pthread_attr_t attributes;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, KW_THREAD_STACK / 2), 0);
  assert_int_equal(pthread_create(out_thread, &attributes, body, user), 0);
  pthread_attr_destroy(&attributes);
}

/* The status of a child in which two threads meet, again and again, and in whose own child they do. */
static int fork_and_meet(int generations) {
  int status = -1;
  const pid_t pid = fork();
  if (pid == 0) {
    bool met = true;
    for (int i = 0; i < 20; i++) met = met && two_threads_meet();
    _exit(met && (generations == 1 || fork_and_meet(generations - 1) == 0) ? 0 : 1);
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

typedef struct hold {
  atomic_int inside;
  atomic_bool over;
} hold;

static void stay(void *user, int64_t begin, int64_t end) {
  hold *h = user;
  (void)begin;
  (void)end;
  atomic_fetch_add(&h->inside, 1);
  while (!atomic_load(&h->over)) sched_yield();
}

static void *call_held(void *user) {
  kw_parallel_for(1000, 1, stay, user);
  return NULL;
}

static void a_child_has_threads_of_its_own(void **state) {
  (void)state;
  assert_true(two_threads_meet());
  assert_int_equal(fork_and_meet(2), 0);
  /* All workers are in a loop of another thread, which in the child does not go on. */
  hold h = {0};
  pthread_t thread;
  start(&thread, call_held, &h);
  while (atomic_load(&h.inside) < (int)kw_parallel_threads()) sched_yield();
  const int status = fork_and_meet(1);
  atomic_store(&h.over, true);
  pthread_join(thread, NULL);
  assert_int_equal(status, 0);
  assert_true(two_threads_meet());
}

static void *loop_until(void *over) {
  visits v;
  while (!atomic_load((atomic_bool *)over)) {
    if (!is_visited(1000, 3, &v)) abort();
  }
  return NULL;
}

static void a_fork_may_come_at_any_time(void **state) {
  (void)state;
  atomic_bool over = false;
  pthread_t threads[2];
  int status = 0;
  for (int i = 0; i < 2; i++) start(&threads[i], loop_until, &over);
  for (int i = 0; i < 20 && status == 0; i++) status = fork_and_meet(1);
  atomic_store(&over, true);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert_int_equal(status, 0);
}

int main(void) {
  setenv("KEYWAY_THREADS", "4", 0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_child_has_threads_of_its_own),
      cmocka_unit_test(a_fork_may_come_at_any_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

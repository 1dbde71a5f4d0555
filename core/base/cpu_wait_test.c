/* SPDX-License-Identifier: Apache-2.0
 *
 * Three threads want one CPU: each has waited for it, and none longer than it was there.
 */
#include "base/cpu_wait.h"
#include "base/trace.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

static atomic_bool over;

static void *want_a_cpu(void *unused) {
  while (!atomic_load(&over)) continue;
  return unused;
}

static void waiting_is_told(void **state) {
  (void)state;
  const uint64_t begin = kw_trace_now();
  uint64_t last = 0, waited = 0;
  if (kw_cpu_wait_since(getpid(), &last) == 0) skip(); /* this kernel does not tell */
  cpu_set_t all, one;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0); /* the new threads', too */
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, want_a_cpu, NULL), 0);
  while (waited < 50000000) waited += kw_cpu_wait_since(getpid(), &last); /* comes, or the test does not end */
  atomic_store(&over, true);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  waited += kw_cpu_wait_since(getpid(), &last);
  assert_true(waited <= kw_trace_now() - begin);
}

/* Of those that are left none has waited as long, and what they wait from here on counts. */
static void a_thread_that_ends_takes_nothing_away(void **state) {
  (void)state;
  uint64_t last = UINT64_MAX / 2;
  assert_int_equal(kw_cpu_wait_since(getpid(), &last), 0);
  assert_true(last < UINT64_MAX / 2);
}

static void of_no_process_there_is_nothing(void **state) {
  (void)state;
  uint64_t last = 0;
  assert_int_equal(kw_cpu_wait_since(-1, &last), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waiting_is_told),
      cmocka_unit_test(a_thread_that_ends_takes_nothing_away),
      cmocka_unit_test(of_no_process_there_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

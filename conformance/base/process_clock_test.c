/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of a process on a made-up /proc, where time passes as the test says.
 */
#include "base/process_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORKER 100
#define COMPILER 200
#define STRANGER 300
#define MS UINT64_C(1000000)

static char proc[64];
static double now;

static void put(const char *name, const char *text) {
  char path[400];
  snprintf(path, sizeof path, "%s/%s", proc, name);
  int fd = open(path, O_WRONLY | O_CREAT, 0600); /* not emptied first: some file systems write such files out */
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  assert_int_equal(ftruncate(fd, (off_t)strlen(text)), 0);
  close(fd);
}

static void add_process(int pid, int parent, const char *program) {
  char path[200], text[64];
  snprintf(path, sizeof path, "%s/%d", proc, pid);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/%d/task", proc, pid);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/%d/exe", proc, pid);
  assert_int_equal(symlink(program, path), 0);
  snprintf(text, sizeof text, "%d (a) b) S %d 1 1 0 -1", pid, parent);
  snprintf(path, sizeof path, "%d/stat", pid);
  put(path, text);
}

/* A thread that ran and waited so long in all. */
static void set_thread(int pid, int tid, uint64_t ran_ms, uint64_t waited_ms) {
  char path[200], text[64];
  snprintf(path, sizeof path, "%s/%d/task/%d", proc, pid, tid);
  mkdir(path, 0700);
  snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " 7\n", ran_ms * MS, waited_ms * MS);
  snprintf(path, sizeof path, "%d/task/%d/schedstat", pid, tid);
  put(path, text);
}

static void end_thread(int pid, int tid) {
  char command[200];
  snprintf(command, sizeof command, "rm -r %s/%d/task/%d", proc, pid, tid);
  assert_int_equal(system(command), 0);
}

static void begin(kw_process_clock *clock) {
  kw_process_clock_begin(clock, proc, WORKER, 2, now);
  kw_process_clock_step(clock, now); /* what was before is not the clock's */
  assert_true(clock->passed == 0);
}

/* What the clock advances in so many milliseconds of wall time. */
static double after(kw_process_clock *clock, double ms) {
  double before = clock->passed;
  now += ms / 1000;
  kw_process_clock_step(clock, now);
  return 1000 * (clock->passed - before);
}

static void near(double got, double want) {
  if (got < want - 1e-6 || got > want + 1e-6) fail_msg("%.9g instead of %.9g", got, want);
}

/* A deadlock: time passes as on the wall, however long its threads waited before. */
static void sleeping_counts(void **state) {
  (void)state;
  kw_process_clock clock;
  set_thread(WORKER, 100, 5000, 90000);
  begin(&clock);
  for (int i = 1; i <= 40; i++) {
    near(after(&clock, 250), 250);
    near(clock.quiet, 0.25 * i);
  }
  near(clock.passed, 10);
  kw_process_clock_free(&clock);
}

static void waiting_does_not_count(void **state) {
  (void)state;
  kw_process_clock clock;
  set_thread(WORKER, 100, 5, 7);
  set_thread(WORKER, 101, 5, 7);
  begin(&clock);
  set_thread(WORKER, 100, 45, 107); /* 40 more, and 100 waited */
  near(after(&clock, 250), 150);
  set_thread(WORKER, 101, 15, 147); /* 10 more, and 140 waited */
  near(after(&clock, 250), 110);
  set_thread(WORKER, 100, 46, 356); /* nearly all of it */
  near(after(&clock, 250), 1);
  near(clock.quiet, 0);
  kw_process_clock_free(&clock);
}

/* Threads that end, or that the system numbers as ones that ended, and new ones. */
static void ended_threads_take_nothing_back(void **state) {
  (void)state;
  kw_process_clock clock;
  set_thread(WORKER, 100, 0, 0);
  set_thread(WORKER, 101, 9000, 80000);
  begin(&clock);
  end_thread(WORKER, 101);
  near(after(&clock, 250), 250);
  set_thread(WORKER, 101, 10, 20); /* another */
  near(after(&clock, 250), 230);
  near(after(&clock, 250), 250);
  set_thread(WORKER, 101, 5, 50); /* and one more in between */
  near(after(&clock, 250), 200);
  kw_process_clock_free(&clock);
}

/* Eight threads that spin on two cores wait six seconds in each second, and still the clock goes. */
static void spinning_ends(void **state) {
  (void)state;
  kw_process_clock clock;
  for (int t = 0; t < 8; t++) set_thread(WORKER, 100 + t, 0, 0);
  begin(&clock);
  for (int t = 0; t < 8; t++) set_thread(WORKER, 100 + t, 100, 300);
  near(after(&clock, 400), 100);
  near(clock.quiet, 0);
  kw_process_clock_free(&clock);
}

static void compilers_are_taken_off_to_their_limit(void **state) {
  (void)state;
  kw_process_clock clock;
  set_thread(WORKER, 100, 0, 0);
  begin(&clock);
  add_process(STRANGER, 1, "/usr/bin/other"); /* not of the worker */
  set_thread(STRANGER, 300, 0, 5000);
  add_process(COMPILER + 1, COMPILER, "/usr/bin/ld"); /* a child's child */
  add_process(COMPILER, WORKER, "/usr/bin/cc");
  set_thread(COMPILER, 200, 100, 40);
  set_thread(COMPILER + 1, 201, 60, 0);
  near(after(&clock, 250), 50);
  near(clock.compiled, 0.2);
  for (uint64_t i = 1; i <= 8; i++) { /* 250 ms each: at two seconds it is enough */
    set_thread(COMPILER, 200, 100 + 250 * i, 40);
    near(after(&clock, 250), i < 8 ? 0 : 200);
    near(clock.quiet, 0);
  }
  near(clock.compiled, 2);
  set_thread(COMPILER, 200, 10000, 40);
  near(after(&clock, 250), 250);
  kw_process_clock_free(&clock);
}

/* A child that runs the same program is the case itself: it may be waited for, but its work counts. */
static void own_children_are_the_process(void **state) {
  (void)state;
  kw_process_clock clock;
  set_thread(WORKER, 100, 0, 0);
  begin(&clock);
  add_process(COMPILER, WORKER, "/usr/bin/worker");
  set_thread(COMPILER, 200, 100, 50);
  near(after(&clock, 250), 200);
  near(clock.compiled, 0);
  kw_process_clock_free(&clock);
}

/* Who was not run himself for a minute knows nothing of that minute. */
static void a_step_has_a_limit(void **state) {
  (void)state;
  kw_process_clock clock;
  set_thread(WORKER, 100, 0, 0);
  begin(&clock);
  near(after(&clock, 60000), 1000);
  kw_process_clock_free(&clock);
}

static void without_schedstat_it_is_the_wall(void **state) {
  (void)state;
  kw_process_clock clock;
  char path[200];
  set_thread(WORKER, 100, 0, 0);
  snprintf(path, sizeof path, "%s/%d/task/100/schedstat", proc, WORKER);
  assert_int_equal(unlink(path), 0);
  kw_process_clock_begin(&clock, proc, WORKER, 2, now);
  near(after(&clock, 250), 250);
  near(after(&clock, 250), 250);
  assert_true(clock.blind);
  near(clock.quiet, 0); /* nobody knows */
  kw_process_clock_free(&clock);
  kw_process_clock_begin(&clock, "/nonexistent", WORKER, 2, now);
  near(after(&clock, 250), 250);
  assert_true(clock.blind);
  kw_process_clock_free(&clock);
}

static void pressure_is_read(void **state) {
  (void)state;
  char path[200];
  assert_true(kw_cpu_pressure(proc) < 0);
  snprintf(path, sizeof path, "%s/pressure", proc);
  assert_int_equal(mkdir(path, 0700), 0);
  put("pressure/cpu", "some avg10=92.07 avg60=91.51 avg300=64.81 total=17005995543\nfull avg10=0.00 total=0\n");
  near(kw_cpu_pressure(proc), 17005.995543);
  put("pressure/cpu", "some avg10=92.07\n");
  assert_true(kw_cpu_pressure(proc) < 0);
}

static void *sleep_for_ever(void *user) {
  (void)user;
  for (;;) pause();
  return NULL;
}

/* Threads of this process; a sanitizer has one of its own among them. */
static uint32_t count_threads(void) {
  uint32_t count = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* The system's own: this process is seen, but for the thread that asks, and sleeping is no waiting. */
static void the_system_is_read(void **state) {
  (void)state;
  kw_process_clock clock;
  pthread_t sleeper;
  assert_int_equal(pthread_create(&sleeper, NULL, sleep_for_ever, NULL), 0);
  kw_process_clock_begin(&clock, NULL, getpid(), 2, 10);
  kw_process_clock_step(&clock, 10.25);
  kw_process_clock_step(&clock, 10.5);
  assert_int_equal(clock.thread_count, count_threads() - 1);
  assert_false(clock.blind);
  assert_true(clock.passed >= 0.25 && clock.passed <= 0.5);
  pthread_cancel(sleeper);
  pthread_join(sleeper, NULL);
  kw_process_clock_free(&clock);
}

static int set_up(void **state) {
  (void)state;
  strcpy(proc, "keyway-clock-test-XXXXXX");
  if (!mkdtemp(proc)) return -1;
  add_process(WORKER, 1, "/usr/bin/worker");
  now = 1000;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", proc);
  return system(command);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(sleeping_counts),
      TEST(waiting_does_not_count),
      TEST(ended_threads_take_nothing_back),
      TEST(spinning_ends),
      TEST(compilers_are_taken_off_to_their_limit),
      TEST(own_children_are_the_process),
      TEST(a_step_has_a_limit),
      TEST(without_schedstat_it_is_the_wall),
      TEST(pressure_is_read),
      TEST(the_system_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * How long is waited for a worker, on a made-up /proc: nothing here takes time.
 */
#include "run/worker_wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORKER "100"
#define STEP 0.25

static char proc[64];
static double now;

static void put(const char *name, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", proc, name);
  int fd = open(path, O_WRONLY | O_CREAT, 0600); /* not emptied first: some file systems write such files out */
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  assert_int_equal(ftruncate(fd, (off_t)strlen(text)), 0);
  close(fd);
}

static void make_folder(const char *name) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", proc, name);
  assert_int_equal(mkdir(path, 0700), 0);
}

static void set_thread(double ran, double waited) {
  char text[64];
  snprintf(text, sizeof text, "%.0f %.0f 1\n", 1e9 * ran, 1e9 * waited);
  put(WORKER "/task/100/schedstat", text);
}

static void set_pressure(double seconds) {
  char text[64];
  snprintf(text, sizeof text, "some avg10=0.00 total=%.0f\n", 1e6 * seconds);
  put("pressure/cpu", text);
}

/* Waits while the worker's one thread runs and waits these shares of the time, and with such pressure; returns the
 * wall time that passed, at most 300 s. */
static double wait_with(const kw_worker_note *note, double limit, double ran, double waited, double pressure,
                        kw_wait_end *out_end) {
  kw_wait wait;
  double begun = now;
  set_thread(0, 0);
  set_pressure(7);
  kw_wait_begin(&wait, proc, 100, note, limit, 40, now);
  do {
    now += STEP;
    set_thread(ran * (now - begun), waited * (now - begun));
    set_pressure(7 + pressure * (now - begun));
  } while (kw_wait_goes_on(&wait, now) && now - begun < 300);
  *out_end = kw_wait_describe(&wait, now);
  kw_wait_free(&wait);
  return now - begun;
}

/* A deadlock ends at the limit, whatever else runs on the machine, and is one. */
static void sleeping_ends_at_the_limit(void **state) {
  (void)state;
  kw_wait_end end;
  kw_worker_note note = {.state = KW_WORKER_CALLS, .text = "kernel tiled"};
  for (int loaded = 0; loaded < 2; loaded++) {
    assert_true(wait_with(&note, 4, 0.001, 0, loaded, &end) == 4);
    assert_true(end.asleep && !end.building && !end.blind);
    assert_true(end.starved == loaded);
    assert_true(end.limit == 4);
    assert_string_equal(end.text, "kernel tiled");
  }
}

/* Who is run a tenth of the time has ten times as long. */
static void waiting_for_a_processor_is_given_back(void **state) {
  (void)state;
  kw_wait_end end;
  kw_worker_note note = {.state = KW_WORKER_WAITS};
  double took = wait_with(&note, 4, 0.1, 0.9, 1, &end);
  assert_true(took > 37 && took < 43);
  assert_true(end.starved && !end.asleep && !end.building);
  took = wait_with(&note, 4, 0.5, 0.5, 0.3, &end);
  assert_true(took > 7 && took < 9);
  assert_false(end.starved);
}

/* Kernels are built in calls, by a processor: those have the build limit. A wait that spins has not. */
static void building_has_its_own_limit(void **state) {
  (void)state;
  kw_wait_end end;
  kw_worker_note note = {.state = KW_WORKER_CALLS};
  assert_true(wait_with(&note, 4, 1, 0, 0, &end) == 40 + STEP);
  assert_true(end.building && !end.asleep && !end.starved);
  double took = wait_with(&note, 4, 0.2, 0.8, 1, &end);
  assert_true(took > 195 && took < 205);
  assert_true(end.building && end.starved);
  note.state = KW_WORKER_WAITS;
  assert_true(wait_with(&note, 4, 1, 0, 0, &end) == 4);
  assert_false(end.building);
  note.state = 77; /* overwritten */
  assert_true(wait_with(&note, 4, 1, 0, 0, &end) == 4);
  memset(note.text, 'x', sizeof note.text);
  assert_true(wait_with(&note, 4, 1, 0, 0, &end) == 4);
  assert_int_equal(strlen(end.text), sizeof end.text - 1);
  assert_true(wait_with(NULL, 4, 1, 0, 0, &end) == 4);
  assert_string_equal(end.text, "");
}

/* A limit that is longer than that of building is that of building, too. */
static void a_longer_limit_holds(void **state) {
  (void)state;
  kw_wait_end end;
  kw_worker_note note = {.state = KW_WORKER_CALLS};
  assert_true(wait_with(&note, 120, 1, 0, 0, &end) == 120 + STEP);
  assert_true(end.building);
}

/* Many calls may each build, for longer than the limit; what comes after them has all of the limit. */
static void each_call_may_build(void **state) {
  (void)state;
  kw_worker_note note = {.state = KW_WORKER_CALLS};
  kw_wait wait;
  double begun = now;
  set_thread(0, 0);
  kw_wait_begin(&wait, proc, 100, &note, 4, 40, now);
  for (int call = 0; call < 4; call++) {
    for (int i = 0; i < 30; i++) {
      now += 1;
      set_thread(now - begun, 0);
      assert_true(kw_wait_goes_on(&wait, now));
    }
    note.count++;
  }
  note.state = KW_WORKER_WAITS;
  for (int i = 1; i <= 3; i++) { /* and the first step, of which nothing was known */
    now += 1;
    set_thread(now - begun, 0);
    assert_true(kw_wait_goes_on(&wait, now) == (i < 3));
  }
  assert_false(kw_wait_describe(&wait, now).building);
  kw_wait_free(&wait);
}

/* A long test that says how it gets on has the limit for each step, and no more for the last. */
static void each_step_has_the_limit(void **state) {
  (void)state;
  kw_worker_note note = {.state = KW_WORKER_WAITS};
  kw_wait wait;
  double begun = now;
  set_thread(0, 0);
  kw_wait_begin(&wait, proc, 100, &note, 4, 40, now);
  for (int step = 0; step < 5; step++) {
    for (int i = 0; i < 3; i++) {
      now += 1;
      set_thread(0.1 * (now - begun), 0);
      assert_true(kw_wait_goes_on(&wait, now));
    }
    note.steps++;
  }
  for (int i = 0; i <= 4; i++) {
    now += 1;
    set_thread(0.1 * (now - begun), 0);
    assert_true(kw_wait_goes_on(&wait, now) == (i < 4));
  }
  kw_wait_free(&wait);
}

static int set_up(void **state) {
  (void)state;
  strcpy(proc, "keyway-wait-test-XXXXXX");
  if (!mkdtemp(proc)) return -1;
  make_folder(WORKER);
  make_folder(WORKER "/task");
  make_folder(WORKER "/task/100");
  make_folder("pressure");
  put(WORKER "/stat", "100 (a) S 1 1 1 0 -1");
  now = 1000;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", proc);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sleeping_ends_at_the_limit), cmocka_unit_test(waiting_for_a_processor_is_given_back),
      cmocka_unit_test(building_has_its_own_limit), cmocka_unit_test(a_longer_limit_holds),
      cmocka_unit_test(each_call_may_build),        cmocka_unit_test(each_step_has_the_limit),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Small traces, each with one thing to find.
 */
#include "trace_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SLACK 1000 /* ns */

/* Rows, in microseconds: what the host and the device of stream 7 did. */
#define ROW "{\"ph\": \"M\", \"name\": \"thread_name\", \"tid\": 8388615, \"args\": {\"name\": \"npu:0 stream 7\"}}"
#define SPAN(category, name, begin, duration, more)                                                 \
  ",{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name "\", \"tid\": 1, \"ts\": " #begin \
  ", \"dur\": " #duration ", \"args\": {\"stream\": 7" more "}}"
#define LAUNCH(call, begin, duration) SPAN("launch", "add.Tensor", begin, duration, ", \"call\": " #call)
#define RAN(call, begin, duration) SPAN("device", "add.Tensor", begin, duration, ", \"call\": " #call)
#define COPY(begin, duration) SPAN("copy", "host to device", begin, duration, "")
#define COPIED(begin, duration) SPAN("device", "copy", begin, duration, "")
#define OF_HOST(category, begin, duration) \
  ",{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"x\", \"tid\": 1, \"ts\": " #begin ", \"dur\": " #duration "}"
#define WAIT(begin, duration) SPAN("sync", "stream", begin, duration, "")

static kw_trace_verdict judge(const char *events) {
  char path[] = "trace_file_test_XXXXXX", message[256];
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_true(dprintf(file, "{\"traceEvents\": [%s]}", events) > 0);
  close(file);
  kw_trace_file trace;
  const bool read = kw_trace_file_read(path, &trace, message, sizeof message);
  unlink(path);
  if (!read) fail_msg("%s", message);
  assert_int_equal(trace.row_count, 1);
  assert_string_equal(trace.rows[0].name, "npu:0 stream 7");
  const kw_trace_verdict verdict = kw_trace_judge(&trace, &trace.rows[0], SLACK);
  kw_trace_file_free(&trace);
  return verdict;
}

static void time_is_accounted_for(void **state) {
  (void)state;
  const kw_trace_verdict verdict = judge(ROW COPY(100, 10) LAUNCH(1, 120, 10) LAUNCH(2, 180, 20) WAIT(210, 90)
                                             COPIED(105, 25) RAN(1, 135, 15) RAN(2, 205, 40));
  assert_int_equal(verdict.launches, 2);
  assert_int_equal(verdict.recorded, 2);
  assert_int_equal(verdict.intervals, 3);
  assert_int_equal(verdict.outside, 0);
  assert_int_equal(verdict.overlaps, 0);
  assert_int_equal(verdict.busy, 80000);
  assert_int_equal(verdict.idle, 30000);       /* 150 to 180: nothing was enqueued */
  assert_int_equal(verdict.enqueueing, 25000); /* 100 to 105, 180 to 200 */
  assert_int_equal(verdict.queued, 10000);     /* 130 to 135, 200 to 205 */
  assert_int_equal(verdict.waiting, 55000);    /* 245 to 300 */
  assert_int_equal(verdict.unexplained, 0);
  assert_int_equal(verdict.wall, 200000);
  assert_int_equal(verdict.busy + kw_trace_verdict_gaps(&verdict), verdict.wall);
  assert_true(kw_trace_verdict_holds(&verdict));
}

/* The most telling first: compiling in a call, and a call in what is otherwise idle. */
static void idle_time_by_what_the_host_did(void **state) {
  (void)state;
  const kw_trace_verdict verdict = judge(ROW LAUNCH(1, 100, 10) WAIT(115, 35) OF_HOST("op", 160, 100)
                                             OF_HOST("op", 165, 10) OF_HOST("build", 170, 20) OF_HOST("build", 185, 25)
                                                 LAUNCH(2, 250, 10) WAIT(262, 38) RAN(1, 110, 30) RAN(2, 260, 30));
  assert_int_equal(verdict.building, 40000); /* 170 to 210 */
  assert_int_equal(verdict.waiting, 20000);  /* 140 to 150, 290 to 300 */
  assert_int_equal(verdict.calling, 50000);  /* 160 to 170, 210 to 250 */
  assert_int_equal(verdict.idle, 10000);     /* 150 to 160 */
  assert_int_equal(verdict.enqueueing, 20000);
  assert_int_equal(verdict.wall, 200000);
  assert_true(kw_trace_verdict_holds(&verdict));
}

/* Every interval within its launch and wait, and in order; but the device cannot have been busy for longer than the
 * host's time. */
static void more_time_than_there_was(void **state) {
  (void)state;
  const kw_trace_verdict verdict = judge(ROW LAUNCH(1, 100, 10) WAIT(110, 10) RAN(1, 105, 10) COPIED(115, 90));
  assert_int_equal(verdict.wall, 20000);
  assert_false(kw_trace_accounted_holds(&verdict));
}

static void a_launch_without_an_interval(void **state) {
  (void)state;
  const kw_trace_verdict verdict = judge(ROW LAUNCH(1, 100, 10) LAUNCH(2, 120, 10) WAIT(140, 60) RAN(1, 110, 5));
  assert_int_equal(verdict.launches, 2);
  assert_int_equal(verdict.recorded, 1);
  assert_false(kw_trace_verdict_holds(&verdict));
}

static void several_intervals_of_one_launch(void **state) {
  (void)state;
  const kw_trace_verdict verdict = judge(ROW LAUNCH(1, 100, 10) WAIT(140, 60) RAN(1, 110, 5) RAN(1, 120, 5));
  assert_int_equal(verdict.recorded, 1);
  assert_int_equal(verdict.intervals, 2);
  assert_true(kw_trace_verdict_holds(&verdict));
}

static void an_interval_before_its_launch(void **state) {
  (void)state;
  kw_trace_verdict verdict = judge(ROW LAUNCH(1, 100, 10) WAIT(140, 60) RAN(1, 98, 20));
  assert_int_equal(verdict.outside, 1);
  assert_int_equal(verdict.furthest, 2000);
  assert_false(kw_trace_verdict_holds(&verdict));
  verdict = judge(ROW LAUNCH(1, 100, 10) WAIT(140, 60) RAN(1, 99.5, 20)); /* within the slack */
  assert_int_equal(verdict.outside, 0);
  assert_int_equal(verdict.furthest, 500);
}

static void an_interval_after_the_wait(void **state) {
  (void)state;
  const kw_trace_verdict verdict =
      judge(ROW WAIT(50, 10) LAUNCH(1, 100, 10) WAIT(140, 60) WAIT(300, 60) RAN(1, 190, 20));
  assert_int_equal(verdict.outside, 1);
  assert_int_equal(verdict.furthest, 10000);
}

static void intervals_that_overlap(void **state) {
  (void)state;
  const kw_trace_verdict verdict =
      judge(ROW LAUNCH(1, 100, 10) LAUNCH(2, 110, 10) WAIT(140, 60) RAN(1, 120, 20) RAN(2, 139, 20));
  assert_int_equal(verdict.overlaps, 1);
  assert_int_equal(verdict.busy, 40000);
  assert_false(kw_trace_verdict_holds(&verdict));
}

static void a_gap_that_nothing_explains(void **state) {
  (void)state;
  const kw_trace_verdict verdict =
      judge(ROW LAUNCH(1, 100, 10) WAIT(140, 260) RAN(1, 120, 20) COPIED(200, 20)); /* nobody enqueued the copy */
  assert_int_equal(verdict.unexplained, 60000);
  assert_false(kw_trace_verdict_holds(&verdict));
}

static void numbers_that_no_trace_has(void **state) {
  (void)state;
  const kw_trace_verdict verdict = judge(ROW LAUNCH(1, 100, 10) WAIT(140, 60) RAN(1, 1e300, 20) RAN(1e300, 150, -5));
  assert_int_equal(verdict.furthest, 100000); /* as if it said nothing: from 0 on */
  assert_int_equal(verdict.busy, 20000);
}

static void what_is_no_trace(void **state) {
  (void)state;
  char message[256] = "";
  kw_trace_file trace;
  assert_false(kw_trace_file_read("no_such_file.json", &trace, message, sizeof message));
  assert_non_null(strstr(message, "no_such_file.json cannot be read"));
  assert_false(kw_trace_file_read("/dev/null", &trace, message, sizeof message));
  assert_non_null(strstr(message, "is no trace"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(idle_time_by_what_the_host_did),
      cmocka_unit_test(more_time_than_there_was),
      cmocka_unit_test(time_is_accounted_for),
      cmocka_unit_test(a_launch_without_an_interval),
      cmocka_unit_test(several_intervals_of_one_launch),
      cmocka_unit_test(an_interval_before_its_launch),
      cmocka_unit_test(an_interval_after_the_wait),
      cmocka_unit_test(intervals_that_overlap),
      cmocka_unit_test(a_gap_that_nothing_explains),
      cmocka_unit_test(numbers_that_no_trace_has),
      cmocka_unit_test(what_is_no_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

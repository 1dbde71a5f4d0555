/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of `keyway conform` that are stopped by a signal, and others that go on with them.
 */
#include "running.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

/* Two suites, so that each says a line when it is done. */
#define OPTIONS "--device", "cpu:0", "--suite", "memory,ops", "--op", "add.Tensor,mul.Tensor,sub.Tensor"

static void contains(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("no '%s' in: %s", part, text);
}

/* Waits until the program, which is not done before, has said this. */
static void wait_for_output(pid_t pid, const char *text) {
  bool there = false;
  while (!there) {
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    siginfo_t ended = {0};
    waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT); /* looked at first, so that all it said is there */
    char *output = read_file("output");
    there = strstr(output, text) != NULL;
    if (!there && ended.si_pid == pid) fail_msg("the program ended before it said '%s': %s", text, output);
    free(output);
  }
}

/* The lines of a report that have no time in them. */
static char *read_without_times(const char *name) {
  char *text = read_file(name), *to = text;
  for (const char *from = text; *from;) {
    const size_t mark = strncmp(from, "\"seconds\": ", 11) == 0 ? 11 : 0;
    memmove(to, from, mark ? mark : 1);
    to += mark ? mark : 1;
    from += mark ? mark : 1;
    if (mark) from += strspn(from, "0123456789.");
  }
  *to = 0;
  return text;
}

static void stop_run(int signal_number, const char *report) {
  const pid_t pid = start(
      (const char *[]){OPTIONS, "--jobs", "1", "--json", in_folder(report), "--tap", in_folder("stopped.tap"), NULL});
  wait_for_output(pid, "memory: "); /* the ops take seconds from here on */
  kill(pid, signal_number);
  assert_int_equal(finish(pid), 128 + signal_number);
}

static void stopped_runs_report_what_they_have(void **state) {
  (void)state;
  stop_run(SIGTERM, "stopped.json");
  char *json = read_file("stopped.json");
  contains(json, "\"verdict\": \"not finished\"");
  contains(json, "\"stopped\": \"SIGTERM\"");
  free(json);
  stop_run(SIGINT, "stopped.json");
  output_contains("verdict: not finished (claims, only --suite memory,ops --op ");
  output_contains(" not run\n");
  output_contains("--resume FILE goes on");
  json = read_file("stopped.json");
  char *tap = read_file("stopped.tap");
  contains(json, "\"verdict\": \"not finished\"");
  contains(json, "\"stopped\": \"SIGINT\"");
  contains(json, "{\"case\": \"memory/zero_size\", \"outcome\": \"pass\"");
  contains(json, "\"outcome\": \"not run\"");
  contains(tap, "# verdict: not finished");
  free(json);
  free(tap);
  assert_int_equal(run_report((const char *[]){"show", in_folder("stopped.json"), NULL}), 130);
  assert_int_equal(run_report((const char *[]){"merge", in_folder("stopped.json"), NULL}), 2);
  output_contains("report 1 is of a run that was stopped");
}

/* Marks a case of the stopped run, by a time that it cannot have taken, and by a number of its own. */
static void mark_case(void) {
  char *json = read_file("stopped.json"), *whole = strstr(json, "\t\"cases\": [");
  char *at = whole ? strstr(whole, "{\"case\": \"memory/zero_size\"") : NULL;
  char *time = at ? strstr(at, "\"seconds\": ") : NULL;
  assert_non_null(time);
  assert_true(strlen(time) > 20);
  memcpy(time + 11, "9.", 2);
  FILE *file = fopen(in_folder("stopped.json"), "w");
  assert_non_null(file);
  fputs(json, file);
  assert_int_equal(fclose(file), 0);
  free(json);
}

/* What was done is not run again, and the report is that of a run in one piece. */
static void resumed_runs_finish(void **state) {
  (void)state;
  mark_case();
  assert_int_equal(
      run((const char *[]){OPTIONS, "--resume", in_folder("stopped.json"), "--json", in_folder("resumed.json"), NULL}),
      0);
  assert_int_equal(run((const char *[]){OPTIONS, "--json", in_folder("whole.json"), NULL}), 0);
  char *resumed = read_file("resumed.json");
  contains(resumed, "{\"case\": \"memory/zero_size\", \"outcome\": \"pass\", \"seconds\": 9.");
  free(resumed);
  char *first = read_without_times("resumed.json"), *second = read_without_times("whole.json");
  assert_string_equal(first, second);
  free(first);
  free(second);
  /* One that is done has nothing left to do. */
  assert_int_equal(run((const char *[]){OPTIONS, "--resume", in_folder("whole.json"), NULL}), 0);
}

static void reports_of_other_runs_are_refused(void **state) {
  (void)state;
  const char *report = in_folder("stopped.json");
  assert_int_equal(run((const char *[]){OPTIONS, "--resume", report, "--seed", "2", NULL}), 2);
  output_contains("it is the report of another run: it has seed '1', and this run '2'");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--resume", report, NULL}), 2);
  output_contains("it is the report of another run: it has scope 'claims, only --suite memory,ops --op");
  assert_int_equal(run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS, "--suite", "memory,ops",
                                        "--op", "add.Tensor,mul.Tensor,sub.Tensor", "--resume", report, NULL}),
                   2);
  output_contains("it has device 'cpu:0', and this run 'mutant:0'");
  assert_int_equal(run((const char *[]){OPTIONS, "--resume", in_folder("stopped.tap"), NULL}), 2);
  output_contains("is no JSON report");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stopped_runs_report_what_they_have),
      cmocka_unit_test(resumed_runs_finish),
      cmocka_unit_test(reports_of_other_runs_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

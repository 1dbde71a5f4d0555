/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole runs of `keyway conform`, however they end: no process and no file is left of them. This process takes in what
 * others leave behind, so that it finds also what has no parent any more.
 */
#include "running.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#define PATIENCE 120 /* seconds in which what was killed is gone, on a machine however busy */

#define LEAVING "--device", "mutant:0", "--plugin", KEYWAY_LEAVING_ABS, "--no-shrink", "--timeout-scale", "0.05"

/* A place for temporary files and caches, in the test's folder. */
static int make_places(void **state) {
  if (make_folder(state) != 0 || mkdir(in_folder("tmp"), 0700) != 0 || mkdir(in_folder("home"), 0700) != 0) return -1;
  char *there = realpath(folder, NULL), path[4200];
  if (there == NULL) return -1;
  snprintf(path, sizeof path, "%s/tmp", there);
  setenv("TMPDIR", path, 1);
  snprintf(path, sizeof path, "%s/home", there);
  setenv("HOME", path, 1);
  setenv("XDG_CACHE_HOME", path, 1);
  free(there);
  return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int remove_places(void **state) {
  char command[256];
  snprintf(command, sizeof command, "rm -r '%s/tmp' '%s/home'", folder, folder);
  return system(command) == 0 ? remove_folder(state) : -1;
}

/* ---- What is left ------------------------------------------------------------------------------------------------ */

/* The first child of this process, with its command line; 0. */
static pid_t first_child(char *command, size_t size) {
  char path[64], *end;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *list = fopen(path, "r");
  assert_non_null(list);
  char text[64] = "";
  if (fgets(text, sizeof text, list) == NULL) text[0] = 0;
  fclose(list);
  const pid_t pid = (pid_t)strtol(text, &end, 10);
  if (end == text) return 0;
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
  FILE *line = fopen(path, "r");
  const size_t length = line ? fread(command, 1, size - 1, line) : 0;
  command[length] = 0;
  if (line) fclose(line);
  return pid;
}

static void on_alarm(int number) {
  (void)number;
}

/* Waits until all that was killed is gone, and ends what was not. */
static void nothing_runs(void) {
  char command[256];
  pid_t left = 0;
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
  alarm(PATIENCE);
  while (waitpid(-1, NULL, 0) > 0) continue;
  alarm(0);
  for (pid_t pid; (pid = first_child(command, sizeof command)) != 0; left = pid) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
  }
  if (left) fail_msg("a process is left: %d (%s)", (int)left, command);
}

static void is_empty(const char *path, const char *const *but) {
  DIR *files = opendir(path);
  assert_non_null(files);
  for (struct dirent *entry; (entry = readdir(files));) {
    bool known = entry->d_name[0] == '.';
    for (size_t i = 0; but[i]; i++) known = known || strcmp(entry->d_name, but[i]) == 0;
    if (!known) fail_msg("%s is left in %s", entry->d_name, path);
  }
  closedir(files);
}

static void nothing_is_left(void) {
  nothing_runs();
  is_empty(getenv("TMPDIR"), (const char *[]){NULL});
  is_empty(folder, (const char *[]){"output", "tmp", "home", "report.json", NULL});
  unlink(in_folder("report.json"));
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static void runs_that_are_done(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--suite", "exit,lifecycle,ops", "--op", "neg", "--quick",
                                        "--json", in_folder("report.json"), NULL}),
                   0);
  nothing_is_left();
  setenv("KEYWAY_ISOLATE", "cpu", 1);
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--suite", "exit,ops", "--op", "neg", "--quick", NULL}),
                   0);
  unsetenv("KEYWAY_ISOLATE");
  nothing_is_left();
}

static void runs_of_plugins_that_leave_processes(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){LEAVING, "--case", "abs/i8/prime/0", NULL}), 0);
  nothing_is_left();
  assert_int_equal(run((const char *[]){LEAVING, "--case", "abs/i16/prime/0", NULL}), 0);
  nothing_is_left();
}

static void runs_of_plugins_that_crash_and_hang(void **state) {
  (void)state;
  assert_int_equal(
      run((const char *[]){LEAVING, "--case", "abs/i32/prime/0", "--json", in_folder("report.json"), NULL}), 1);
  nothing_is_left();
  assert_int_equal(run((const char *[]){LEAVING, "--case", "abs/i64/prime/0", NULL}), 1);
  nothing_is_left();
}

static void runs_that_cannot_begin(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "none:0", NULL}), 2);
  nothing_is_left();
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--suite", "memory", "--json", "/nowhere/r.json", NULL}),
                   2);
  nothing_is_left();
}

/* Begins a run and waits until the plugin sleeps. */
static pid_t start_sleeping(const char *name) {
  const pid_t pid = start(
      (const char *[]){LEAVING, "--timeout-scale", "100", "--case", name, "--json", in_folder("report.json"), NULL});
  for (bool there = false; !there;) {
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    char *output = read_file("output");
    there = strstr(output, "abs: begun") != NULL;
    if (!there && waitpid(pid, NULL, WNOHANG) == pid) fail_msg("it has ended: %s", output);
    free(output);
  }
  return pid;
}

static void runs_that_are_asked_to_end(void **state) {
  (void)state;
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    const pid_t pid = start_sleeping("abs/i64/prime/0");
    kill(pid, signals[i]);
    assert_int_equal(finish(pid), 128 + signals[i]);
    char *json = read_file("report.json"), name[32];
    snprintf(name, sizeof name, "\"stopped\": \"SIG%s\"", sigabbrev_np(signals[i]));
    assert_non_null(strstr(json, name));
    free(json);
    nothing_is_left();
  }
}

/* Nobody is left to clean up but the kernel: it ends the worker and all of its group. */
static void runs_that_are_killed(void **state) {
  (void)state;
  const pid_t pid = start_sleeping("abs/u8/prime/0");
  int status;
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  nothing_is_left();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_that_are_done),
      cmocka_unit_test(runs_of_plugins_that_leave_processes),
      cmocka_unit_test(runs_of_plugins_that_crash_and_hang),
      cmocka_unit_test(runs_that_cannot_begin),
      cmocka_unit_test(runs_that_are_asked_to_end),
      cmocka_unit_test(runs_that_are_killed),
  };
  return cmocka_run_group_tests(tests, make_places, remove_places);
}

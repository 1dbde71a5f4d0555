/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole runs of `keyway conform` on cpu:0: exit codes, reports, and what happens when a worker dies or hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char folder[64];

static pid_t start(const char *const *options) {
  const char *argv[24] = {KEYWAY_PROGRAM, "conform"};
  int argc = 2;
  for (; options[argc - 2]; argc++) argv[argc] = options[argc - 2];
  char output[96];
  snprintf(output, sizeof output, "%s/output", folder);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid;
  assert_int_equal(posix_spawn(&pid, KEYWAY_PROGRAM, &actions, NULL, (char **)argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

static int finish(pid_t pid) {
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static int run(const char *const *options) {
  return finish(start(options));
}

static char *read_file(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 22);
  size_t length = fread(text, 1, (1 << 22) - 1, file);
  text[length] = 0;
  fclose(file);
  return text;
}

static void output_contains(const char *text) {
  char *output = read_file("output");
  if (!strstr(output, text)) fail_msg("no '%s' in: %s", text, output);
  free(output);
}

static int count_of(const cJSON *report, const char *what) {
  return cJSON_GetObjectItem(cJSON_GetObjectItem(report, "counts"), what)->valueint;
}

/* ---- Nothing to run ---------------------------------------------------------------------------------------------- */

static void refusals_say_why(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "nope", NULL}), 2);
  output_contains("nope");
  output_contains("cpu:0"); /* what there is instead */
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "nope.*", NULL}), 2);
  output_contains("no op matches 'nope.*'");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--plugin", "/dev/null", NULL}), 2);
  output_contains("/dev/null");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "add.Tensor/f32/nope/1", NULL}), 2);
  output_contains("there is no case");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--shard", "9000/9000", NULL}), 2);
  output_contains("no case is left");
  assert_int_equal(run((const char *[]){NULL}), 2);
  output_contains("--device NAME");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--suite", "memroy", NULL}), 2);
  output_contains("--suite takes");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--shard", "3/2", NULL}), 2);
  output_contains("--shard takes");
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

static void same_seed_same_report(void **state) {
  (void)state;
  char first[96], second[96], other[96];
  snprintf(first, sizeof first, "%s/first.json", folder);
  snprintf(second, sizeof second, "%s/second.json", folder);
  snprintf(other, sizeof other, "%s/report.xml", folder);
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "mul.*", "--jobs", "1", "--json", first, NULL}),
                   0);
  output_contains("verdict: conformant (claims)");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "mul.*", "--jobs", "3", "--json", second,
                                        "--junit", other, NULL}),
                   0);
  char *a = read_file("first.json"), *b = read_file("second.json"), *xml = read_file("report.xml");
  assert_string_equal(a, b);
  cJSON *report = cJSON_Parse(a);
  assert_non_null(report);
  assert_string_equal(cJSON_GetObjectItem(report, "device")->valuestring, "cpu:0");
  assert_string_equal(cJSON_GetObjectItem(report, "verdict")->valuestring, "conformant");
  assert_true(cJSON_IsNull(cJSON_GetObjectItem(report, "level")));
  assert_true(cJSON_IsFalse(cJSON_GetObjectItem(report, "emulated")));
  assert_int_equal(cJSON_GetObjectItem(report, "fallbacks")->valueint, 0);
  assert_int_equal(cJSON_GetObjectItem(report, "seed")->valueint, 1);
  assert_true(count_of(report, "pass") > 300);
  int cases = 0;
  const cJSON *op;
  cJSON_ArrayForEach(op, cJSON_GetObjectItem(report, "ops")) {
    cases += cJSON_GetObjectItem(op, "cases")->valueint;
    assert_int_equal(cJSON_GetObjectItem(op, "cases")->valueint, cJSON_GetObjectItem(op, "pass")->valueint);
    assert_true(cJSON_GetObjectItem(op, "max_error")->valuedouble <= cJSON_GetObjectItem(op, "bound")->valuedouble);
  }
  assert_int_equal(cases, count_of(report, "pass"));
  assert_non_null(strstr(xml, "<testcase classname=\"mul.Tensor\" name=\"f32/prime/0\"/>"));
  cJSON_Delete(report);
  free(a);
  free(b);
  free(xml);
}

static void shards_are_parts(void **state) {
  (void)state;
  char *lists[3];
  static const char *const shards[] = {"1/1", "1/2", "2/2"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--list", "--shard", shards[i], NULL}),
                     0);
    lists[i] = read_file("output");
  }
  assert_int_equal(strlen(lists[0]), strlen(lists[1]) + strlen(lists[2]));
  for (int i = 0; i < 3; i++) free(lists[i]);
}

static void one_case_alone(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "mm/f32/prime/1", NULL}), 0);
  output_contains("1 of 1 cases pass");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "memory/zero_size", NULL}), 0);
  output_contains("1 of 1 cases pass");
}

/* A level asks for dtypes whether or not the device claims them. */
static void level_core_on_one_op(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--level", "core", "--op", "relu", NULL}), 0);
  output_contains("conformant (core)");
}

/* ---- Workers that die -------------------------------------------------------------------------------------------- */

/* Clock ticks of processor time that a process has used; -1 when it is no child of `parent`. */
static long ticks_of(const char *pid, pid_t parent) {
  char path[300], text[512] = "";
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  const char *after = strrchr(text, ')'); /* the name may contain anything */
  long ppid = -1, user = 0, kernel = 0;
  if (!after || sscanf(after + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &ppid, &user, &kernel) != 3)
    return -1;
  return ppid == parent ? user + kernel : -1;
}

/* A worker that is certainly in the middle of its cases: it has used far more processor time than starting takes. */
static pid_t find_busy_worker(pid_t parent, long ticks) {
  for (;;) {
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    pid_t found = 0;
    for (struct dirent *entry; !found && (entry = readdir(proc));) {
      if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && ticks_of(entry->d_name, parent) >= ticks) {
        found = (pid_t)strtol(entry->d_name, NULL, 10);
      }
    }
    closedir(proc);
    if (found) return found;
    if (waitpid(parent, NULL, WNOHANG) == parent) fail_msg("the run ended before any worker was busy");
    sched_yield();
  }
}

static cJSON *run_and_disturb(int signal_number, const char *scale) {
  char json[96];
  snprintf(json, sizeof json, "%s/disturbed.json", folder);
  pid_t pid = start((const char *[]){"--device", "cpu:0", "--op", "add.*", "--jobs", "1", "--timeout-scale", scale,
                                     "--json", json, NULL});
  kill(find_busy_worker(pid, sysconf(_SC_CLK_TCK) / 4), signal_number);
  assert_int_equal(finish(pid), 1);
  char *text = read_file("disturbed.json");
  cJSON *report = cJSON_Parse(text);
  assert_non_null(report);
  free(text);
  return report;
}

static void killed_worker_is_one_named_crash(void **state) {
  (void)state;
  cJSON *report = run_and_disturb(SIGKILL, "1");
  assert_int_equal(count_of(report, "crash"), 1);
  assert_int_equal(count_of(report, "fail") + count_of(report, "timeout"), 0);
  assert_true(count_of(report, "pass") > 500); /* it went on */
  const cJSON *failures = cJSON_GetObjectItem(report, "failures");
  assert_int_equal(cJSON_GetArraySize(failures), 1);
  const cJSON *failure = cJSON_GetArrayItem(failures, 0);
  assert_non_null(strstr(cJSON_GetObjectItem(failure, "text")->valuestring, "signal 9 (SIGKILL)"));
  const char *replay = cJSON_GetObjectItem(failure, "replay")->valuestring;
  assert_non_null(strstr(replay, "keyway conform --device cpu:0 --seed 1 --case '"));
  output_contains("not conformant");
  cJSON_Delete(report);
}

static void stopped_worker_is_one_timeout(void **state) {
  (void)state;
  cJSON *report = run_and_disturb(SIGSTOP, "0.2");
  assert_int_equal(count_of(report, "timeout"), 1);
  assert_int_equal(count_of(report, "fail") + count_of(report, "crash"), 0);
  assert_true(count_of(report, "pass") > 500);
  cJSON_Delete(report);
}

static int set_up(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "keyway-run-test-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  static const char *const names[] = {"output", "first.json", "second.json", "report.xml", "disturbed.json"};
  char path[128];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_say_why),
      cmocka_unit_test(same_seed_same_report),
      cmocka_unit_test(shards_are_parts),
      cmocka_unit_test(one_case_alone),
      cmocka_unit_test(level_core_on_one_op),
      cmocka_unit_test(killed_worker_is_one_named_crash),
      cmocka_unit_test(stopped_worker_is_one_timeout),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

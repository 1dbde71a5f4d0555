/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that a compiler has linked with -ffast-math flushes subnormals in whatever process loads it. It changes no
 * expectation of the oracle, and the environment suite reports it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <float.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char folder[] = "/tmp/keyway_fast_math_XXXXXX";

static bool keeps_subnormals(void) {
  volatile float smallest = FLT_MIN, two = 2;
  volatile float half = smallest / two;
  return half > 0 && half * two == smallest;
}

/* In a child: compilers differ in whether they link the constructor into shared libraries. */
static bool flushes_its_process(void) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) _exit(dlopen(KEYWAY_FAST_MATH, RTLD_NOW | RTLD_LOCAL) && !keeps_subnormals() ? 0 : 1);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* keyway conform of the plugin in these cases; the report. `preload`: put into the coordinator itself, or NULL. */
static cJSON *conform(const char *plugin, const char *what, const char *value, const char *preload, int *out_code) {
  char path[64], text[512];
  snprintf(path, sizeof path, "%s/report.json", folder);
  const char *argv[] = {KEYWAY_PROGRAM, "conform", "--plugin", plugin, "--device", "mutant:0",
                        what,           value,     "--json",   path,   NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (preload) {
    snprintf(text, sizeof text, "%s", preload);
    setenv("LD_PRELOAD", text, 1);
  }
  pid_t pid;
  int status = 0;
  assert_int_equal(posix_spawn(&pid, KEYWAY_PROGRAM, &actions, NULL, (char **)argv, environ), 0);
  unsetenv("LD_PRELOAD");
  posix_spawn_file_actions_destroy(&actions);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  *out_code = WEXITSTATUS(status);
  static char report[1 << 22];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  report[fread(report, 1, sizeof report - 1, file)] = 0;
  fclose(file);
  remove(path);
  cJSON *root = cJSON_Parse(report);
  assert_non_null(root);
  return root;
}

static double expectations(const char *plugin, const char *preload) {
  int code;
  cJSON *report = conform(plugin, "--op", "mul.Tensor", preload, &code);
  double sum = cJSON_GetNumberValue(cJSON_GetObjectItem(report, "expectations"));
  if (!preload) assert_int_equal(code, 0);
  assert_true(sum > 0);
  cJSON_Delete(report);
  return sum;
}

static void changes_no_expectation(void **state) {
  (void)state;
  if (!flushes_its_process()) skip();
  double plain = expectations(KEYWAY_PLAIN, NULL);
  assert_true(expectations(KEYWAY_FAST_MATH, NULL) == plain);
  /* It would show: the same library in the coordinator's own process. */
  assert_true(expectations(KEYWAY_PLAIN, KEYWAY_FAST_MATH) != plain);
}

static void is_reported(void **state) {
  (void)state;
  if (!flushes_its_process()) skip();
  int code;
  cJSON *report = conform(KEYWAY_FAST_MATH, "--suite", "environment", NULL, &code);
  assert_int_equal(code, 1);
  const cJSON *failures = cJSON_GetObjectItem(report, "failures"), *failure;
  bool named = false;
  cJSON_ArrayForEach(failure, failures) {
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(failure, "case"));
    named = named || (id && strcmp(id, "environment/no_fast_math") == 0);
  }
  assert_true(named);
  cJSON_Delete(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(changes_no_expectation), cmocka_unit_test(is_reported)};
  if (!mkdtemp(folder)) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  rmdir(folder);
  return failed;
}

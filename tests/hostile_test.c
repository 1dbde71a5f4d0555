/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins that mean harm, found by discovery: nothing but themselves comes to any, and each is named.
 */
#include "child.h"

#include <cJSON.h>
#include <fcntl.h>
#include <keyway/keyway.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const stages[] = {"constructor", "query", "probe",  "init",   "count", "info",     "open",
                                     "alloc",       "copy",  "launch", "thread", "close", "shutdown", "exit"};
static const char *const harms[] = {"crash", "hang", "exit", "wild"};
enum { STAGES = sizeof stages / sizeof stages[0], HARMS = sizeof harms / sizeof harms[0] };

/* ---- In this process --------------------------------------------------------------------------------------------- */

static void use_cpu(void) {
  kw_device *device;
  kw_tensor *x, *sum = NULL;
  CHECK_OK(kw_device_open("cpu:0", &device));
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &x));
  CHECK_OK(kw_tensor_write(x, (const float[]){2}));
  const kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, &sum, 1));
  float result = 0;
  CHECK_OK(kw_tensor_read(sum, &result));
  CHECK(result == 4);
  kw_tensor_release(x);
  kw_tensor_release(sum);
  CHECK_OK(kw_device_close(device));
}

static kw_plugin_report report_of(const char *path_end) {
  kw_plugin_report report = {.struct_size = sizeof report};
  for (uint32_t i = 0; kw_plugin_get_report(i, &report) == KW_OK; i++) {
    const size_t length = strlen(report.path), end = strlen(path_end);
    if (length >= end && strcmp(report.path + length - end, path_end) == 0) return report;
  }
  fprintf(stderr, "no report ends with %s\n", path_end);
  exit(1);
}

/* What the helper has to say of the harm at a stage; NULL where it comes to none. */
static const char *words_of(const char *stage, const char *harm) {
  static const struct {
    const char *stage, *place;
  } rows[] = {{"constructor", "while its constructors ran"},
              {"query", "in its query"},
              {"probe", "in its probe"},
              {"init", "in its init"},
              {"count", "in its init"},
              {"info", "while its devices were asked"},
              {"shutdown", "in its shutdown"}};
  if (strcmp(stage, "count") == 0 && strcmp(harm, "wild") == 0) return "4294967295 devices, which cannot be";
  if (strcmp(stage, "info") == 0 && strcmp(harm, "wild") == 0) return NULL; /* of the device alone */
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp(rows[i].stage, stage) == 0) return rows[i].place;
  return NULL;
}

static const char *verb_of(const char *harm) {
  return strcmp(harm, "hang") == 0   ? "did not answer within"
         : strcmp(harm, "exit") == 0 ? "with code 7"
                                     : "crashed (SIG";
}

static void start_among_them(void) {
  setenv("KEYWAY_PLUGIN_PATH", KEYWAY_HOSTILE, 1);
  setenv("KEYWAY_PROBE_TIMEOUT_MS", "3000", 1);
  use_cpu();
  for (int s = 0; s < STAGES; s++) {
    for (int h = 0; h < HARMS; h++) {
      char file[128];
      snprintf(file, sizeof file, "keyway_hostile_%s_%s.so", stages[s], harms[h]);
      const kw_plugin_report report = report_of(file);
      const char *words = words_of(stages[s], harms[h]);
      CHECK(report.opened == 0);
      CHECK((report.status == KW_OK) == (words == NULL));
      if (words == NULL) continue;
      CHECK_CONTAINS(report.reason, words);
      if (strstr(words, "cannot be") == NULL) CHECK_CONTAINS(report.reason, verb_of(harms[h]));
    }
  }
}

static void nothing_else_is_harmed(void **state) {
  (void)state;
  run_child(start_among_them);
  run_child(start_among_them); /* by what was kept */
}

/* ---- In processes of their own ----------------------------------------------------------------------------------- */

/* Does what applications do with the device of a plugin that means harm, as far as it lets one. Each call comes back,
 * with a status that the header knows. */
static void use_hostile(const char *name) {
  kw_device *device;
  kw_tensor *x = NULL, *sum = NULL;
  float result;
  kw_status status = kw_device_open(name, &device);
  CHECK(status >= KW_OK && status <= KW_ERR_INTERNAL);
  if (status != KW_OK) return;
  status = kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &x);
  if (status == KW_OK) status = kw_tensor_write(x, (const float[]){2});
  if (status == KW_OK) {
    const kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
    status = kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, &sum, 1);
  }
  if (status == KW_OK) status = kw_tensor_read(sum, &result);
  CHECK(status >= KW_OK && status <= KW_ERR_INTERNAL);
  if (status == KW_OK) CHECK(result == 4);
  if (x != NULL) kw_tensor_release(x);
  if (sum != NULL) kw_tensor_release(sum);
  status = kw_device_close(device);
  CHECK(status >= KW_OK && status <= KW_ERR_INTERNAL);
}

static void use_all_isolated(void) {
  setenv("KEYWAY_PLUGIN_PATH", KEYWAY_HOSTILE, 1);
  setenv("KEYWAY_PROBE_TIMEOUT_MS", "3000", 1);
  setenv("KEYWAY_ISOLATE", "*", 1);
  setenv("KEYWAY_ISOLATE_TIMEOUT_MS", "100", 1); /* what hangs is over after this */
  int used = 0;
  for (int s = 0; s < STAGES; s++) {
    for (int h = 0; h < HARMS; h++) {
      char name[128];
      if (words_of(stages[s], harms[h]) != NULL) continue; /* its helper said no: nobody opens it */
      snprintf(name, sizeof name, "%s_%s:0", stages[s], harms[h]);
      use_hostile(name);
      used++;
    }
  }
  CHECK(used == 29);
  unsetenv("KEYWAY_ISOLATE_TIMEOUT_MS");
  use_cpu();
}

static void isolated_none_ends_the_application(void **state) {
  (void)state;
  run_child(use_all_isolated);
}

/* ---- By the program ---------------------------------------------------------------------------------------------- */

/* The output of `keyway ARGUMENTS`, for free(); with the environment and caches of run_child. */
static char *run_program(const char *arguments) {
  char command[1024];
  snprintf(command, sizeof command, "HOME=%s XDG_CACHE_HOME=%s KEYWAY_PROBE_TIMEOUT_MS=3000 " KEYWAY_PROGRAM " %s 2>&1",
           scratch_path("home"), scratch_path("cache"), arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t size = 0, length = 0;
  char *text = NULL;
  do {
    text = realloc(text, size += 65536);
    assert_non_null(text);
    length += fread(text + length, 1, size - length - 1, pipe);
  } while (length == size - 1);
  text[length] = '\0';
  pclose(pipe);
  return text;
}

/* Whether the doctor's report says of the plugin what is wrong with it, or with its device. */
static bool is_named(const cJSON *json, const char *stage, const char *harm) {
  char file[128], device[128];
  snprintf(file, sizeof file, "keyway_hostile_%s_%s.so", stage, harm);
  snprintf(device, sizeof device, "fixture.%s_%s", stage, harm);
  const cJSON *item;
  cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "plugins")) {
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(item, "path"));
    const char *verdict = cJSON_GetStringValue(cJSON_GetObjectItem(item, "verdict"));
    if (strstr(path, file) != NULL && strcmp(verdict, "failed") == 0) return true;
  }
  cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "trials")) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(item, "device"));
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(item, "text"));
    if (cJSON_IsTrue(cJSON_GetObjectItem(item, "works"))) continue;
    if (strstr(name, device) != NULL || strstr(text, device) != NULL) return true;
  }
  return false;
}

static void the_doctor_names_each(void **state) {
  (void)state;
  setenv("KEYWAY_PLUGIN_PATH", KEYWAY_HOSTILE, 1);
  char *text = run_program("doctor --json");
  unsetenv("KEYWAY_PLUGIN_PATH");
  cJSON *json = cJSON_Parse(text);
  assert_non_null(json);
  int missed = 0;
  for (int s = 0; s < STAGES; s++) {
    for (int h = 0; h < HARMS; h++) {
      if (is_named(json, stages[s], harms[h])) continue;
      fprintf(stderr, "the doctor is content with %s_%s\n", stages[s], harms[h]);
      missed++;
    }
  }
  if (missed > 0) fputs(text, stderr);
  assert_int_equal(missed, 0);
  const cJSON *trial;
  bool cpu_works = false;
  cJSON_ArrayForEach(trial, cJSON_GetObjectItem(json, "trials")) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(trial, "device"));
    if (strcmp(name, "keyway.cpu:0") == 0) cpu_works = cJSON_IsTrue(cJSON_GetObjectItem(trial, "works"));
  }
  assert_true(cpu_works);
  cJSON_Delete(json);
  free(text);
}

/* ---- Quarantine -------------------------------------------------------------------------------------------------- */

static void search_crash(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("crash"), 1);
}

/* Opens the device in a child of its own; how that ended, as waitpid says. */
static int open_in_child(void) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    signal(SIGSEGV, SIG_DFL); /* cmocka's goes on with the next test */
    setenv("HOME", scratch_path("home"), 1);
    setenv("XDG_CACHE_HOME", scratch_path("cache"), 1);
    search_crash();
    kw_device *device;
    _exit(kw_device_open("crash_init_here", &device) == KW_ERR_NOT_FOUND ? 3 : 0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void start_quarantined(void) {
  search_crash();
  use_cpu();
  const kw_plugin_report report = report_of("crash_init_here.so");
  CHECK(report.status == KW_ERR_PERMISSION && report.reached == KW_STAGE_FOUND);
  CHECK_CONTAINS(report.reason, "in quarantine: a process ended on ");
  CHECK_CONTAINS(report.reason, "while it was in its init");
  CHECK_CONTAINS(report.reason, "keyway doctor --retry");
}

static void who_crashed_is_not_opened_again(void **state) {
  (void)state;
  mkdir(scratch_path("crash"), 0700);
  copy_file(fixture_path("crash_init_here"), scratch_path("crash/crash_init_here.so"));
  int status = open_in_child();
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  run_child(start_quarantined);
  run_child(start_quarantined);
  assert_int_equal(WEXITSTATUS(open_in_child()), 3);
  search_crash();
  char *text = run_program("doctor");
  assert_non_null(strstr(text, "in quarantine"));
  free(text);
  text = run_program("doctor --retry --json");
  assert_null(strstr(text, "in quarantine"));
  assert_non_null(
      strstr(text, "crashed (SIGSEGV) while it was opened")); /* the doctor's own trial, which is marked as well */
  free(text);
  unsetenv("KEYWAY_PLUGIN_PATH");
  run_child(start_quarantined);
  /* Another file is another plugin. */
  copy_file(fixture_path("plain"), scratch_path("crash/crash_init_here.so"));
  assert_int_equal(WEXITSTATUS(open_in_child()), 3);
}

/* The suite ends its workers when it likes: when a run is stopped, or when one takes too long. */
static void who_ends_with_a_suite_is_opened_again(void **state) {
  (void)state;
  mkdir(scratch_path("suite"), 0700);
  copy_file(fixture_path("crash_init_here"), scratch_path("suite/crash_init_here.so"));
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("suite"), 1);
  char *text = run_program("conform --device fixture.crash_init_here:0 --quick");
  assert_non_null(strstr(text, "nothing was run: the worker ended with "));
  free(text);
  text = run_program("list");
  assert_non_null(strstr(text, "crash_init_here"));
  assert_null(strstr(text, "in quarantine"));
  free(text);
  unsetenv("KEYWAY_PLUGIN_PATH");
}

/* ---- Manners ----------------------------------------------------------------------------------------------------- */

static void load_caller(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  CHECK_OK(kw_init(&options));
  CHECK_OK(kw_plugin_load(fixture_path("calls_keyway")));
}

static void init_may_not_call_the_library(void **state) {
  (void)state;
  run_child(load_caller);
}

static void start_without_some(void) {
  setenv("KEYWAY_PLUGIN_PATH", KEYWAY_FIXTURES, 1);
  setenv("KEYWAY_PROBE_TIMEOUT_MS", "3000", 1);
  setenv("KEYWAY_PLUGINS", "-keyway_fixture_crash_query,-fixture_exit_constructor,-fixture.plain,-grows", 1);
  use_cpu();
  CHECK_CONTAINS(report_of("fixture_crash_query.so").reason, "left out by KEYWAY_PLUGINS");
  CHECK_CONTAINS(report_of("fixture_exit_constructor.so").reason, "left out by KEYWAY_PLUGINS");
  CHECK_CONTAINS(report_of("fixture_plain.so").reason, "left out by KEYWAY_PLUGINS");
  CHECK_CONTAINS(report_of("fixture_grows.so").reason, "left out by KEYWAY_PLUGINS");
  CHECK(report_of("fixture_options.so").status == KW_OK);
  kw_device *device;
  CHECK(kw_device_open("plain:0", &device) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "left out by KEYWAY_PLUGINS");
}

static void plugins_can_be_left_out(void **state) {
  (void)state;
  run_child(start_without_some);
}

static void start_with_control_texts(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  CHECK_OK(kw_init(&options));
  CHECK_OK(kw_plugin_load(fixture_path("control_texts")));
}

static bool is_printable(const char *text) {
  for (; *text != '\0'; text++)
    if (((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t') || *text == 0x7f ||
        strncmp(text, "\xc2\x9b", 2) == 0)
      return false;
  return true;
}

static void no_text_moves_the_cursor(void **state) {
  (void)state;
  run_child(start_with_control_texts);
  assert_non_null(strstr(read_text(scratch_path("stderr")), "logged "));
  assert_true(is_printable(read_text(scratch_path("stderr"))));
  static const char *const commands[] = {"list", "doctor", "list --json", "doctor --json"};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s --plugin %s", commands[i], fixture_path("control_texts"));
    char *text = run_program(arguments);
    assert_non_null(strstr(text, "control_texts"));
    assert_true(is_printable(text));
    assert_null(strstr(text, "\\u001b"));
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_else_is_harmed),
      cmocka_unit_test(isolated_none_ends_the_application),
      cmocka_unit_test(the_doctor_names_each),
      cmocka_unit_test(who_crashed_is_not_opened_again),
      cmocka_unit_test(who_ends_with_a_suite_is_opened_again),
      cmocka_unit_test(init_may_not_call_the_library),
      cmocka_unit_test(plugins_can_be_left_out),
      cmocka_unit_test(no_text_moves_the_cursor),
  };
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}

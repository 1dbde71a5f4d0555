/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that run the program as a person does: its exit code, what it prints, and a folder for its files.
 * KEYWAY_PROGRAM is its path.
 */
#ifndef KEYWAY_CLI_TEST_PROGRAM_H
#define KEYWAY_CLI_TEST_PROGRAM_H

#include <keyway/keyway.h>

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = P_tmpdir "/keyway-cli-XXXXXX";
static char output[1 << 20]; /* stdout of the last run; with stderr where `2>&1` says so */

/* A device with one op. */
#define KEYWAY_BARE_DEVICE "emulated_gpu:0 --plugin " KEYWAY_WITHOUT_OPS

/* Runs "keyway ARGUMENTS" in the test's folder through a shell; returns the exit code. */
static inline int keyway(const char *arguments) {
  char command[4096];
  snprintf(command, sizeof command, "cd %s && '%s' %s", folder, KEYWAY_PROGRAM, arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t size = fread(output, 1, sizeof output - 1, pipe);
  output[size] = '\0';
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Runs it and checks exit code and a part of the output, stdout and stderr together. */
static inline void check(const char *arguments, int code, const char *says) {
  char with_errors[2048];
  snprintf(with_errors, sizeof with_errors, "%s 2>&1", arguments);
  int got = keyway(with_errors);
  if (got != code || !strstr(output, says)) {
    fail_msg("keyway %s\n  exit %d, wanted %d and \"%s\":\n%s", arguments, got, code, says, output);
  }
}

static inline cJSON *run_json(const char *arguments) {
  assert_int_equal(keyway(arguments), 0);
  cJSON *json = cJSON_Parse(output);
  if (!json) fail_msg("keyway %s prints no JSON:\n%s", arguments, output);
  return json;
}

/* The member `array` of the JSON, with at least one entry, each with all the fields named (NULL-terminated). */
static inline const cJSON *check_fields(const cJSON *json, const char *array, const char *const *fields) {
  const cJSON *items = cJSON_GetObjectItem(json, array), *item;
  assert_true(cJSON_GetArraySize(items) > 0);
  cJSON_ArrayForEach(item, items) {
    for (const char *const *field = fields; *field; ++field) {
      if (!cJSON_GetObjectItem(item, *field)) fail_msg("an entry of %s has no %s", array, *field);
    }
  }
  return items;
}

static inline const cJSON *find_named(const cJSON *items, const char *name) {
  const cJSON *item;
  cJSON_ArrayForEach(item, items) {
    if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(item, "name")), name) == 0) return item;
  }
  fail_msg("no %s", name);
  return NULL;
}

/* The row of an op, and where several are of that op the one that `what` tells from the others. */
static inline const cJSON *find_row(const cJSON *rows, const char *op, const char *what) {
  const cJSON *row;
  cJSON_ArrayForEach(row, rows) {
    if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(row, "op")), op) == 0 &&
        strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(row, "what")), what) == 0)
      return row;
  }
  fail_msg("no row of %s %s", op, what);
  return NULL;
}

static inline int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

/* What main returns: removes the test's own files, up to a NULL, and the folder, in which the program leaves nothing.
 */
static inline int end_in_folder(int failures, const char *const *files) {
  char path[128];
  for (; *files; ++files) {
    snprintf(path, sizeof path, "%s/%s", folder, *files);
    unlink(path);
  }
  const bool clean = rmdir(folder) == 0;
  if (!clean) fprintf(stderr, "the program left something behind in %s\n", folder);
  return failures > 0 || !clean;
}

#endif /* KEYWAY_CLI_TEST_PROGRAM_H */

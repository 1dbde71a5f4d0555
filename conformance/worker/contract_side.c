/* SPDX-License-Identifier: Apache-2.0
 *
 * Contract tests in a worker.
 */
#include "worker/contract_side.h"

#include "base/worker_note.h"
#include "contract/contract.h"
#include "core/base/array.h"
#include "worker/crash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

kw_contract_env kw_contract;
static const char *skip_reason;
static char untried[512]; /* why; "": it was tried */
static char failure[2048];
static bool timed_out;

void kw_contract_set_skip_reason(const char *reason) {
  skip_reason = reason;
}

void kw_contract_set_failure(const char *text) {
  snprintf(failure, sizeof failure, "%s", text);
  fprintf(stderr, "%s\n", text); /* a child's way to say it */
}

void kw_contract_set_timeout(const char *text) {
  timed_out = true;
  kw_contract_set_failure(text);
}

void kw_contract_time_out(const char *text) {
  kw_contract_set_timeout(text);
  if (kw_contract.is_child) _exit(KW_CHILD_WAITED); /* without exit handlers, which may wait for the same */
  _fail(__FILE__, __LINE__);
  abort(); /* _fail does not return */
}

void kw_contract_not_tried(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(untried, sizeof untried, format, list);
  va_end(list);
  if (kw_contract.is_child) {
    fprintf(stderr, "%s", untried);
    exit(KW_CHILD_NOT_TRIED);
  }
  skip();
  abort(); /* skip does not return */
}

static void add_test(kw_worker *w, const kw_contract_suite *suite, const char *test, const kw_op *op,
                     const char *op_name) {
  char id[160];
  kw_effort effort = KW_EFFORT_QUICK;
  if (suite->wants && !suite->wants(test, op, &effort)) return;
  snprintf(id, sizeof id, "%s/%s%s%s", suite->name, test, op ? "/" : "", op ? op_name : "");
  char **tests = kw_array_grow(w->facts.contracts, w->facts.contract_count, sizeof *tests);
  if (!tests) abort();
  w->facts.contracts = tests;
  kw_effort *efforts = kw_array_grow(w->facts.contract_efforts, w->facts.contract_count, sizeof *efforts);
  if (!efforts) abort();
  w->facts.contract_efforts = efforts;
  efforts[w->facts.contract_count] = effort;
  tests[w->facts.contract_count++] = strdup(id);
}

static bool has_op(const kw_worker *w, const kw_op *op) {
  kw_support support = KW_SUPPORT_NONE;
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) support |= kw_op_support(op, w->device, d);
  return support != KW_SUPPORT_NONE;
}

void kw_worker_contract_open(kw_worker *w) {
  kw_contract = (kw_contract_env){.device = w->device,
                                  .device_name = w->facts.device,
                                  .plugin_path = w->facts.plugin_path,
                                  .seed = w->seed,
                                  .patience = 1,
                                  .effort = KW_EFFORT_NORMAL};
  for (size_t s = 0; s < kw_contract_suite_count; s++) {
    const kw_contract_suite *suite = &kw_contract_suites[s];
    for (size_t t = 0; t < suite->count; t++) add_test(w, suite, suite->tests[t].name, NULL, NULL);
    for (uint32_t i = 0; suite->op_count > 0 && i < kw_op_count(); i++) {
      kw_op_info info = {.struct_size = sizeof info};
      if (kw_op_get_info(kw_op_at(i), &info) != KW_OK) continue;
      if (info.level == KW_LEVEL_VENDOR && !has_op(w, kw_op_at(i))) continue; /* another plugin's */
      for (size_t t = 0; t < suite->op_count; t++) {
        add_test(w, suite, suite->op_tests[t].name, kw_op_at(i), info.name);
      }
    }
  }
}

static const struct CMUnitTest *find_in(const struct CMUnitTest *tests, size_t count, const char *name, size_t length) {
  for (size_t t = 0; t < count; t++) {
    if (strlen(tests[t].name) == length && memcmp(tests[t].name, name, length) == 0) return &tests[t];
  }
  return NULL;
}

/* The test of this id; sets kw_contract.op. */
static const struct CMUnitTest *find_test(const char *id) {
  const char *slash = strchr(id, '/'), *second = slash ? strchr(slash + 1, '/') : NULL;
  kw_contract.op = second ? kw_op_find(second + 1) : NULL;
  for (size_t s = 0; slash && s < kw_contract_suite_count; s++) {
    const kw_contract_suite *suite = &kw_contract_suites[s];
    size_t length = strlen(suite->name);
    if (length != (size_t)(slash - id) || memcmp(suite->name, id, length) != 0) continue;
    if (!second) return find_in(suite->tests, suite->count, slash + 1, strlen(slash + 1));
    if (kw_contract.op) return find_in(suite->op_tests, suite->op_count, slash + 1, (size_t)(second - slash - 1));
  }
  return NULL;
}

/* What cmocka printed about a failure that it found itself (a signal): its "[  ERROR   ]" and message lines, joined. */
static void pick_message(char *text, char *out, size_t size) {
  size_t used = 0;
  out[0] = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (strncmp(line, "[==========]", 12) == 0 || strncmp(line, "[ RUN ", 6) == 0) continue;
    if (strncmp(line, "[  PASSED  ]", 12) == 0 || strncmp(line, "[  FAILED  ]", 12) == 0) continue;
    if (strncmp(line, "[  ERROR   ]", 12) == 0) line += 12;
    while (*line == ' ' || *line == '-') line++;
    if (!*line || used + 3 >= size) continue;
    used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "; " : "", line);
    if (used >= size) used = size - 1;
  }
}

/* Runs the test with stdout and stderr caught in memory. */
static int run_caught(const struct CMUnitTest *test, char *out_text, size_t size) {
  fflush(stdout);
  fflush(stderr);
  int caught = memfd_create("contract", MFD_CLOEXEC), out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
  dup2(caught, STDOUT_FILENO);
  dup2(caught, STDERR_FILENO);
  kw_crash_say_from(caught, err);
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  int failed = _cmocka_run_group_tests("contract", test, 1, NULL, NULL);
  fflush(stdout);
  fflush(stderr);
  kw_crash_say_from(-1, -1);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(out);
  close(err);
  static char raw[1 << 14];
  ssize_t length = pread(caught, raw, sizeof raw - 1, 0);
  raw[length > 0 ? length : 0] = 0;
  close(caught);
  pick_message(raw, out_text, size);
  return failed;
}

void kw_worker_contract(kw_worker *w, const char *id, double patience, kw_effort effort, kw_message *out_message) {
  /* Nothing but the one open that tests know of may hold the device: some close it and open it again. */
  kw_worker_let_go(w);
  kw_math_mode_set(KW_MATH_HIGHEST);
  char text[2048] = "there is no such test";
  kw_contract_outcome outcome = KW_CONTRACT_FAIL;
  const struct CMUnitTest *test = find_test(id);
  skip_reason = NULL;
  untried[0] = 0;
  failure[0] = 0;
  timed_out = false;
  kw_contract.patience = patience;
  kw_contract.effort = effort;
  kw_worker_note_set(KW_WORKER_CALLS, "");
  if (test) {
    int failed = run_caught(test, text, sizeof text);
    if (failure[0]) snprintf(text, sizeof text, "%s", failure);
    w->device = kw_contract.device;
    outcome = failed && timed_out ? KW_CONTRACT_TIMEOUT
              : failed            ? KW_CONTRACT_FAIL
              : untried[0]        ? KW_CONTRACT_NOT_TRIED
              : skip_reason       ? KW_CONTRACT_SKIP
                                  : KW_CONTRACT_PASS;
  }
  kw_message_put_string(out_message, id);
  kw_message_put_u32(out_message, outcome);
  kw_message_put_string(out_message, outcome == KW_CONTRACT_SKIP        ? skip_reason
                                     : outcome == KW_CONTRACT_NOT_TRIED ? untried
                                     : outcome == KW_CONTRACT_PASS      ? ""
                                                                        : text);
  kw_worker_note_set(KW_WORKER_IDLE, "");
}

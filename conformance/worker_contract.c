/* SPDX-License-Identifier: Apache-2.0
 *
 * Contract tests, one at a time through cmocka.
 */
#include "contract.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

kw_contract_env kw_contract;
static const char *skip_reason;

void kw_contract_set_skip_reason(const char *reason) {
  skip_reason = reason;
}

void kw_worker_contract_open(kw_worker *w, const char *plugin_path) {
  kw_contract = (kw_contract_env){w->device, w->facts.device, plugin_path, w->seed};
  size_t total = 0;
  for (size_t s = 0; s < kw_contract_suite_count; s++) total += kw_contract_suites[s].count;
  w->facts.contracts = calloc(total + 1, sizeof *w->facts.contracts);
  for (size_t s = 0; s < kw_contract_suite_count; s++) {
    const kw_contract_suite *suite = &kw_contract_suites[s];
    for (size_t t = 0; t < suite->count; t++) {
      char id[160];
      snprintf(id, sizeof id, "%s/%s", suite->name, suite->tests[t].name);
      w->facts.contracts[w->facts.contract_count++] = strdup(id);
    }
  }
}

static const struct CMUnitTest *find_test(const char *id) {
  const char *slash = strchr(id, '/');
  for (size_t s = 0; slash && s < kw_contract_suite_count; s++) {
    const kw_contract_suite *suite = &kw_contract_suites[s];
    size_t length = strlen(suite->name);
    if (length != (size_t)(slash - id) || memcmp(suite->name, id, length) != 0) continue;
    for (size_t t = 0; t < suite->count; t++) {
      if (strcmp(suite->tests[t].name, slash + 1) == 0) return &suite->tests[t];
    }
  }
  return NULL;
}

/* What cmocka printed about the failure: its "[  ERROR   ]" and message lines, joined. */
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
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  int failed = _cmocka_run_group_tests("contract", test, 1, NULL, NULL);
  fflush(stdout);
  fflush(stderr);
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

void kw_worker_contract(kw_worker *w, const char *id, kw_message *out_message) {
  /* Nothing but the one open that tests know of may hold the device: some close it and open it again. */
  kw_stream_destroy(w->stream);
  w->stream = NULL;
  char text[1024] = "there is no such test";
  kw_contract_outcome outcome = KW_CONTRACT_FAIL;
  const struct CMUnitTest *test = find_test(id);
  skip_reason = NULL;
  if (test) {
    int failed = run_caught(test, text, sizeof text);
    w->device = kw_contract.device;
    outcome = failed ? KW_CONTRACT_FAIL : skip_reason ? KW_CONTRACT_SKIP : KW_CONTRACT_PASS;
  }
  kw_message_put_string(out_message, id);
  kw_message_put_u32(out_message, outcome);
  kw_message_put_string(out_message, outcome == KW_CONTRACT_SKIP   ? skip_reason
                                     : outcome == KW_CONTRACT_FAIL ? text
                                                                   : "");
}

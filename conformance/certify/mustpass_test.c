/* SPDX-License-Identifier: Apache-2.0
 *
 * Must-pass lists name what runs have, for any level and device, and their gate tells what changed.
 */
#include "base/text.h"
#include "certify/mustpass.h"
#include "run/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static kw_device_facts facts; /* of cpu:0 */
static kw_mustpass lists;
static char message[1024];

static int set_up(void **state) {
  (void)state;
  kw_run_options options = {.device = "cpu:0", .timeout_scale = 1};
  char folder[512];
  if (!kw_process_ask(&options, &facts, message, sizeof message)) return -1;
  return kw_mustpass_folder(folder, sizeof folder) && kw_mustpass_read(folder, &lists, message, sizeof message) ? 0
                                                                                                                : -1;
}

static int tear_down(void **state) {
  (void)state;
  kw_device_facts_free(&facts);
  kw_mustpass_free(&lists);
  return 0;
}

/* What a run of a level has on the device. */
static kw_id_list ids_of_run(const char *level, kw_effort effort, kw_level_claim *out_claim) {
  kw_run_options options = {.device = "cpu:0", .seed = 1, .shard = 1, .shards = 1, .effort = effort};
  kw_run run = {.options = &options, .facts = facts};
  kw_id_list ids = {0};
  assert_true(kw_level_parse(level, &options.level));
  assert_true(kw_run_select(&run, message, sizeof message));
  for (uint32_t i = 0; i < run.case_count; i++) kw_id_list_add(&ids, "%s", run.cases[i].id);
  run.facts = (kw_device_facts){0};
  kw_run_free(&run);
  *out_claim = options.level;
  return ids;
}

static void check_level(const char *name, kw_dtype half, kw_effort effort) {
  kw_level_claim claim;
  kw_id_list ids = ids_of_run(name, effort, &claim);
  const kw_mustpass_level level = {&claim, half, effort};
  assert_true(ids.count > 20000);
  if (!kw_mustpass_check(&lists, &level, &ids, message, sizeof message)) fail_msg("%s: %s", name, message);
  kw_id_list_free(&ids);
}

static const char *const levels[] = {
    "core",         "inference",        "training",
    "core+f64",     "core+complex+fp8", "inference+int4+paged",
    "training+fft", "training+fft+f64", "training+f64+complex+fp8+int4+sparse+fft+detection+paged"};

static void lists_are_what_runs_have(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) check_level(levels[i], KW_F16, KW_EFFORT_NORMAL);
  check_level("core", KW_F16, KW_EFFORT_THOROUGH);
  for (uint32_t i = 0; i < facts.op_count; i++) { /* a device of bf16 */
    facts.ops[i].kernels &= ~KW_DTYPE_BIT(KW_F16);
    facts.ops[i].decomposed &= ~KW_DTYPE_BIT(KW_F16);
  }
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) check_level(levels[i], KW_BF16, KW_EFFORT_NORMAL);
}

static void differences_are_named(void **state) {
  (void)state;
  kw_level_claim claim;
  const kw_mustpass_level level = {&claim, KW_BF16, KW_EFFORT_NORMAL};
  kw_id_list ids = ids_of_run("core", KW_EFFORT_NORMAL, &claim);
  free(ids.ids[ids.count - 1]);
  ids.ids[ids.count - 1] = strdup("abs/f32/prime/977");
  assert_false(kw_mustpass_check(&lists, &level, &ids, message, sizeof message));
  assert_non_null(strstr(message, "is missing (1 of "));
  kw_id_list_free(&ids);
  ids = ids_of_run("core", KW_EFFORT_NORMAL, &claim);
  kw_id_list_add(&ids, "abs/f32/prime/977");
  assert_false(kw_mustpass_check(&lists, &level, &ids, message, sizeof message));
  assert_string_equal(message, "the case abs/f32/prime/977 was added (1 were): core of suite 1.0 has no such case");
  kw_id_list_free(&ids);
}

/* Runs the gate on the lists with `from` replaced by `to`, which both have one length, in one of them. */
static int run_gate(const char *name, const char *from, const char *to, char *output, size_t size) {
  char folder[] = P_tmpdir "/keyway-mustpass-XXXXXX", path[600], command[900];
  assert_non_null(mkdtemp(folder));
  for (uint32_t f = 0; f < KW_MUSTPASS_FILES; f++) {
    char *text = strdup(lists.files[f].text);
    if (strcmp(kw_mustpass_name(f), name) == 0) {
      char *place = strstr(text, from);
      assert_non_null(place);
      memcpy(place, to, strlen(to));
    }
    snprintf(path, sizeof path, "%s/%s", folder, kw_mustpass_name(f));
    assert_true(kw_text_write_file(path, text));
    free(text);
  }
  snprintf(command, sizeof command, "'%s' check %s 2>&1; code=$?; rm -r %s; exit $code", KEYWAY_MUSTPASS_GATE, folder,
           folder);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  output[fread(output, 1, size - 1, pipe)] = 0;
  return WEXITSTATUS(pclose(pipe));
}

static void the_gate_tells_what_changed(void **state) {
  (void)state;
  char output[2048];
  assert_int_equal(run_gate("core.txt", "op ", "op ", output, sizeof output), 0);
  assert_int_equal(run_gate("core.txt", "scalar:0 empty:0-1", "scalar:0 empty:0-2", output, sizeof output), 1);
  assert_non_null(strstr(output, "changed without a new version: 1 cases are gone (fill_.Scalar/bool/empty/2), "));
  assert_int_equal(run_gate("contract.txt", "test memory/zero_size", "test memory/zero_sock", output, sizeof output),
                   1);
  assert_non_null(strstr(output, "1 cases are gone (memory/zero_sock), 1 are new (memory/zero_size), "));
  assert_int_equal(run_gate("inference.txt", "contents ", "contents?", output, sizeof output), 1);
  assert_non_null(strstr(output, "the ids are the same, but what the cases are made of or judged by is not"));
}

static void a_changed_list_is_not_read(void **state) {
  (void)state;
  char folder[] = P_tmpdir "/keyway-mustpass-XXXXXX", path[600];
  kw_mustpass read;
  assert_non_null(mkdtemp(folder));
  assert_false(kw_mustpass_read(folder, &read, message, sizeof message));
  assert_non_null(strstr(message, "contract.txt cannot be read"));
  snprintf(path, sizeof path, "%s/contract.txt", folder);
  char *text = strdup(lists.files[0].text), *place = strstr(text, "test memory/zero_size");
  assert_non_null(place);
  memcpy(place, "# no ", 5);
  assert_true(kw_text_write_file(path, text));
  assert_false(kw_mustpass_read(folder, &read, message, sizeof message));
  assert_non_null(strstr(message, "its cases are not those that it names by hash: it was changed; install Keyway"));
  remove(path);
  remove(folder);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_what_runs_have),
      cmocka_unit_test(differences_are_named),
      cmocka_unit_test(the_gate_tells_what_changed),
      cmocka_unit_test(a_changed_list_is_not_read),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

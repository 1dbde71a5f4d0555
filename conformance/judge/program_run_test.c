/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a program, as a message: cut short and overwritten as a broken worker would; and judged, where it says
 * what cannot be.
 */
#include "judge/program_judge.h"
#include "program/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* A device with every op in every dtype, which promises the same bits. */
static kw_device_facts facts;
static kw_program program;
static const char id[] = "programs/3";

static int claim_all(void **state) {
  (void)state;
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  facts.ops = calloc(count, sizeof *facts.ops);
  facts.op_count = count;
  for (uint32_t i = 0; i < count; i++) {
    facts.ops[i] = (kw_op_facts){.op = ops[i], .kernels = kw_suite_op_keys(&ops[i])};
    facts.ops[i].repeats = facts.ops[i].kernels;
  }
  return kw_program_make(id, 1, &facts, &program) ? 0 : -1;
}

static int forget_all(void **state) {
  (void)state;
  kw_program_free(&program);
  free(facts.ops);
  return 0;
}

static uint32_t used_storage(void) {
  uint32_t s = 0;
  while (s < program.storage_count && (!program.storages[s].used || program.storages[s].size == 0)) s++;
  assert_true(s < program.storage_count);
  return s;
}

/* One storage at the end, as the two runs have left it. */
static kw_program_run made_up(kw_program_seen *seen, const void *free_run, const void *waited, size_t size) {
  *seen = (kw_program_seen){KW_SEEN_AT_END, used_storage(), {free_run, size}, {waited, size}};
  return (kw_program_run){.id = id, .untried = "", .failure = "", .seconds = 1, .seen_count = 1, .seen = seen};
}

static void write(kw_message *message) {
  static const float numbers[] = {1, 2, 3};
  kw_program_seen seen;
  kw_program_judged judged = {.call = 2, .inputs = {[1] = {numbers, sizeof numbers}}};
  kw_program_run run = made_up(&seen, numbers, numbers, sizeof numbers);
  judged.waited[0] = (kw_program_bytes){numbers, 4};
  run.judged = &judged;
  run.judged_count = 1;
  kw_program_run_write(&run, message);
}

static void comes_back_as_it_was(void **state) {
  (void)state;
  kw_message message = {0};
  kw_program_run run;
  write(&message);
  assert_true(kw_program_run_read(&message, &run));
  assert_string_equal(run.id, id);
  assert_int_equal(run.seen_count, 1);
  assert_int_equal(run.seen[0].free.size, 12);
  assert_int_equal(run.judged_count, 1);
  assert_int_equal(run.judged[0].call, 2);
  assert_null(run.judged[0].inputs[0].data);
  assert_int_equal(run.judged[0].inputs[1].size, 12);
  assert_int_equal(run.judged[0].waited[0].size, 4);
  kw_program_run_free(&run);
  kw_message_free(&message);
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  kw_message message = {0};
  write(&message);
  for (size_t length = 0; length < message.length; length++) {
    kw_message cut = {.data = message.data, .length = length};
    kw_program_run run;
    assert_false(kw_program_run_read(&cut, &run));
  }
  kw_message_free(&message);
}

/* The reader and the judge stay inside the message, whatever is in it: a copy of exactly its size shows it. */
static void every_wrong_byte_is_survived(void **state) {
  (void)state;
  kw_message message = {0};
  write(&message);
  for (size_t at = 0; at < message.length; at++) {
    unsigned char *copy = malloc(message.length);
    memcpy(copy, message.data, message.length);
    copy[at] ^= 0x80;
    kw_message changed = {.data = copy, .length = message.length};
    kw_program_run run;
    kw_case_result result = {0};
    if (kw_program_run_read(&changed, &run)) {
      if (strcmp(run.id, id) == 0) kw_judge_program(&facts, &run, 1, &result);
      kw_case_result_free(&result);
      kw_program_run_free(&run);
    }
    free(copy);
  }
  kw_message_free(&message);
}

static kw_outcome judge(const kw_program_run *run, bool good, char *text, size_t size) {
  kw_case_result result = {0};
  assert_int_equal(kw_judge_program(&facts, run, 1, &result), good);
  const kw_outcome outcome = result.outcome;
  text[0] = 0;
  if (result.text) strncat(text, result.text, size - 1);
  kw_case_result_free(&result);
  return outcome;
}

/* The same bits in both runs pass; one bit more fails, and the element is named. */
static void bits_decide(void **state) {
  (void)state;
  const kw_program_storage *s = &program.storages[used_storage()];
  unsigned char *one = calloc(1, s->size), *other = calloc(1, s->size);
  kw_program_seen seen;
  kw_program_run run = made_up(&seen, one, other, s->size);
  char text[1200];
  assert_int_equal(judge(&run, true, text, sizeof text), KW_OUTCOME_PASS);
  other[s->size - 1] ^= 1;
  assert_int_equal(judge(&run, true, text, sizeof text), KW_OUTCOME_FAIL);
  assert_non_null(strstr(text, "where the device is waited for after each act; 1 of "));
  run.failure = "free run: act 3: lost";
  assert_int_equal(judge(&run, true, text, sizeof text), KW_OUTCOME_FAIL);
  assert_string_equal(text, "free run: act 3: lost");
  run.untried = "npu:1 cannot be opened";
  assert_int_equal(judge(&run, true, text, sizeof text), KW_OUTCOME_NOT_TRIED);
  run.untried = run.failure = "";
  seen.free.size--;
  assert_int_equal(judge(&run, false, text, sizeof text), KW_OUTCOME_NONE);
  free(one);
  free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comes_back_as_it_was),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(every_wrong_byte_is_survived),
      cmocka_unit_test(bits_decide),
  };
  return cmocka_run_group_tests_name("program_run", tests, claim_all, forget_all);
}

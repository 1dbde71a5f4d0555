/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said to be different between made-up reports.
 */
#include "report/diff.h"

#include "report/formats.h"
#include "report/made_up.h"

#include <math.h>

static void make(kw_report *report) {
  begin(report, "");
  add_case(report, "stream/query", -1, KW_OUTCOME_PASS, "");
  add_op(report, "add.Tensor", "f32", 2);
  add_op(report, "mul.Tensor", "f32", 2);
  add_case(report, "add.Tensor/f32/prime/0", 0, KW_OUTCOME_PASS, "")->error = 0.5;
  add_case(report, "add.Tensor/f32/prime/1", 0, KW_OUTCOME_PASS, "");
  add_case(report, "mul.Tensor/f32/prime/0", 1, KW_OUTCOME_PASS, "");
}

static void times_hashes_and_seeds_do_not_count(void **state) {
  (void)state;
  kw_report a, b;
  make(&a);
  make(&b);
  b.seconds = 99;
  b.cases[0].seconds = 99;
  b.cases[1].error = 0.4; /* in the same bin */
  b.seed = 7;
  set_hash(b.plugin_hash, 'd');
  kw_report_diff diff = kw_report_compare(&a, &b);
  assert_true(kw_report_diff_none(&diff));
  kw_report_diff_free(&diff);
  kw_report_free(&a);
  kw_report_free(&b);
}

static void what_changed_is_named(void **state) {
  (void)state;
  kw_report a, b;
  make(&a);
  make(&b);
  b.cases[2].outcome = KW_OUTCOME_FAIL;
  b.cases[2].error = INFINITY;
  b.cases[1].error = 1.7;
  add_case(&b, "stream/order", -1, KW_OUTCOME_PASS, "");
  kw_report_diff diff = kw_report_compare(&a, &b);
  assert_false(kw_report_diff_none(&diff));
  assert_true(diff.verdict);
  assert_int_equal(diff.change_count, 1);
  assert_string_equal(diff.changes[0].after->id, "add.Tensor/f32/prime/1");
  assert_int_equal(diff.changes[0].before->outcome, KW_OUTCOME_PASS);
  assert_int_equal(diff.new_count, 1);
  assert_string_equal(diff.new_cases[0]->id, "stream/order");
  assert_true(diff.gone_count == 0 && diff.gained_count == 0 && diff.lost_count == 0);
  assert_int_equal(diff.shift_count, 1);
  assert_string_equal(diff.shifts[0].op->name, "add.Tensor");
  assert_true(diff.shifts[0].before[0] == 1 && diff.shifts[0].after[0] == 0);
  assert_true(diff.shifts[0].before[KW_REPORT_BINS - 1] == 0 && diff.shifts[0].after[KW_REPORT_BINS - 1] == 1);
  kw_report_diff_free(&diff);
  diff = kw_report_compare(&b, &a);
  assert_true(diff.gone_count == 1 && diff.new_count == 0 && diff.change_count == 1);
  kw_report_diff_free(&diff);
  kw_report_free(&a);
  kw_report_free(&b);
}

/* A known failure is another outcome than a failure, though both failed. */
static void expectations_are_outcomes(void **state) {
  (void)state;
  kw_report a, b;
  make(&a);
  make(&b);
  a.cases[3].outcome = b.cases[3].outcome = KW_OUTCOME_FAIL;
  b.cases[3].expected = kw_text_clean("erratum 12");
  kw_report_diff diff = kw_report_compare(&a, &b);
  assert_int_equal(diff.change_count, 1);
  assert_string_equal(kw_report_case_name(diff.changes[0].after), "expected failure");
  kw_report_diff_free(&diff);
  kw_report_free(&a);
  kw_report_free(&b);
}

/* An op in a dtype that only one has stands once, not with all its cases. */
static void ops_come_and_go(void **state) {
  (void)state;
  kw_report a, b;
  make(&a);
  make(&b);
  add_op(&b, "mul.Tensor", "f16", 2);
  add_case(&b, "mul.Tensor/f16/prime/0", 2, KW_OUTCOME_PASS, "");
  kw_report_diff diff = kw_report_compare(&a, &b);
  assert_int_equal(diff.gained_count, 1);
  assert_string_equal(diff.gained[0]->dtype, "f16");
  assert_true(diff.lost_count == 0 && diff.new_count == 0 && diff.change_count == 0 && diff.shift_count == 0);
  kw_report_diff_free(&diff);
  diff = kw_report_compare(&b, &a);
  assert_true(diff.lost_count == 1 && diff.gained_count == 0 && diff.gone_count == 0);
  kw_report_diff_free(&diff);
  kw_report_free(&a);
  kw_report_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_hashes_and_seeds_do_not_count),
      cmocka_unit_test(what_changed_is_named),
      cmocka_unit_test(expectations_are_outcomes),
      cmocka_unit_test(ops_come_and_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

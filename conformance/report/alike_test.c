/* SPDX-License-Identifier: Apache-2.0
 *
 * Which failures of a made-up run stand once, and where the others are said to be.
 */
#include "report/alike.h"

#include "report/formats.h"
#include "report/made_up.h"

#include <math.h>

static kw_report_case *wrong(kw_report *report, const char *id, int op, const char *text) {
  kw_report_case *c = add_case(report, id, op, KW_OUTCOME_FAIL, text);
  c->defect[0] = 0;
  c->error = INFINITY;
  return c;
}

/* Two ops in several dtypes. */
static void add_ops(kw_report *report) {
  add_op(report, "add.Tensor", "f32", 2);
  add_op(report, "add.Tensor", "f16", 2);
  add_op(report, "mul.Tensor", "f32", 2);
}

static void expect_groups(const kw_report *report, const uint32_t *sizes, uint32_t want) {
  uint32_t count;
  kw_report_group *groups = kw_report_groups(report, &count);
  assert_int_equal(count, want);
  for (uint32_t g = 0; g < count; g++) assert_int_equal(groups[g].count, sizes[g]);
  kw_report_groups_free(groups, count);
}

static void numbers_make_no_difference(void **state) {
  (void)state;
  kw_report report;
  begin(&report, "");
  add_ops(&report);
  wrong(&report, "add.Tensor/f32/prime/0", 0, "run 0, kw_op_call: element [3, 0]: got 1.5 (0x3f), expected nan (0x7f)");
  wrong(&report, "add.Tensor/f32/sliced/1", 0, "run 1, kw_op_call: element []: got -0.25 (0x4f), expected 2e-7 (0x7f)");
  wrong(&report, "add.Tensor/f16/prime/3", 1,
        "run 0, kw_op_call: element [7]: got inf (0x3f), expected 1 (0x7f); operands: self = 3");
  wrong(&report, "mul.Tensor/f32/prime/0", 2, "run 0, kw_op_call: element [3]: got 1.5 (0x3f), expected 2 (0x7f)");
  expect_groups(&report, (const uint32_t[]){3, 1}, 2); /* wrong numbers of another op are another defect */
  report.cases[1].passes_alone = true;
  expect_groups(&report, (const uint32_t[]){2, 1, 1}, 3);
  report.cases[1].passes_alone = false;
  report.cases[1].outcome = KW_OUTCOME_UNIMPLEMENTED;
  expect_groups(&report, (const uint32_t[]){2, 1}, 2);
  kw_report_free(&report);
}

static void same_words_of_several_ops_are_alike(void **state) {
  (void)state;
  kw_report report;
  begin(&report, "");
  add_ops(&report);
  add_case(&report, "error/op/add.Tensor", -1, KW_OUTCOME_FAIL, "no text [error.c:12]");
  add_case(&report, "error/op/mul.Tensor", -1, KW_OUTCOME_FAIL, "no text [error.c:12]");
  add_case(&report, "add.Tensor/f32/prime/0", 0, KW_OUTCOME_FAIL, "status LOST: add.Tensor: queue 7 is gone");
  add_case(&report, "add.Tensor/f32/prime/1", 0, KW_OUTCOME_TIMEOUT, "no answer within 20 s");
  add_case(&report, "mul.Tensor/f32/prime/0", 2, KW_OUTCOME_FAIL, "status LOST: mul.Tensor: queue 12 is gone");
  add_case(&report, "mul.Tensor/f32/prime/1", 2, KW_OUTCOME_TIMEOUT, "no answer within 20 s");
  add_case(&report, "mul.Tensor/f32/prime/2", 2, KW_OUTCOME_CRASH, "signal 11 in a.so+0x12");
  add_case(&report, "mul.Tensor/f32/prime/3", 2, KW_OUTCOME_CRASH, "signal 11 in a.so+0x13");
  add_case(&report, "mul.Tensor/f32/prime/4", 2, KW_OUTCOME_CRASH, "signal 11 in a.so+0x12");
  expect_groups(&report, (const uint32_t[]){2, 2, 1, 1, 2, 1}, 6); /* places of crashes are told apart */
  kw_report_free(&report);
}

static uint32_t times(const char *text, const char *part) {
  uint32_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
  return count;
}

/* Once in the table and on the page, all of them in JSON and with -v. */
static void formats_show_them_once(void **state) {
  (void)state;
  kw_report report;
  begin(&report, "");
  add_ops(&report);
  for (int i = 0; i < 30; i++) {
    char id[64];
    snprintf(id, sizeof id, "add.Tensor/f32/%s/%d", i % 2 ? "prime" : "sliced", i);
    wrong(&report, id, 0, "element [1]: got 3, expected 4");
  }
  add_case(&report, "add.Tensor/f16/prime/0", 1, KW_OUTCOME_UNIMPLEMENTED, "no kernel");
  add_case(&report, "add.Tensor/f16/prime/1", 1, KW_OUTCOME_UNIMPLEMENTED, "no kernel");
  char *table = kw_report_text(&report, kw_report_put_plain_table), *whole = kw_report_text(&report, put_whole_table);
  char *html = kw_report_text(&report, kw_report_put_html), *json = kw_report_text(&report, kw_report_put_json);
  assert_int_equal(times(table, "fail add.Tensor/f32/"), 1);
  contains(table, "    30 alike: add.Tensor in f32 (sliced, prime)\n");
  contains(table, "unimplemented add.Tensor/f16: 2 cases, the first add.Tensor/f16/prime/0\n");
  assert_int_equal(times(whole, "fail add.Tensor/f32/"), 30);
  assert_int_equal(times(whole, "unimplemented add.Tensor/f16/prime/"), 2);
  assert_int_equal(times(html, "<div class=\"failure\">"), 1);
  contains(html, "<summary>30 alike: add.Tensor in f32 (sliced, prime)</summary>");
  contains(html, "add.Tensor/f32/prime/29");
  contains(html, "<h2>Unimplemented</h2>");
  assert_int_equal(times(json, "\"outcome\": \"fail\""), 60); /* among the failures, and among the cases */
  contains(json, "\"failures\": [");
  char *unimplemented = strstr(json, "\"unimplemented\": [");
  assert_non_null(unimplemented);
  *unimplemented = 0; /* never under what failed */
  assert_null(strstr(json, "\"outcome\": \"unimplemented\""));
  char *const texts[] = {table, whole, html, json};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  kw_report_free(&report);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_make_no_difference),
      cmocka_unit_test(same_words_of_several_ops_are_alike),
      cmocka_unit_test(formats_show_them_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of made-up ops of a vendor's: with every kind of argument, and as many as there can be.
 */
#include "case/make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kw_suite_arg *add_arg(kw_suite_op *op, const char *name, kw_tag tag) {
  kw_suite_arg *arg = &op->args[op->arg_count++];
  snprintf(arg->name, sizeof arg->name, "%s", name);
  arg->tag = tag;
  return arg;
}

static kw_suite_op op_of(const char *name) {
  kw_suite_op op = {.vendor = true, .result_count = 1};
  snprintf(op.name, sizeof op.name, "%s", name);
  op.row.shape = KW_SHAPE_CUSTOM;
  op.row.result = KW_RESULT_CUSTOM;
  op.row.dtypes = KW_DTYPE_BIT(KW_F32);
  op.row.magnitude = "";
  return op;
}

static uint32_t case_count(const kw_suite_op *op) {
  uint32_t count = 0;
  kw_case c;
  for (int class = 0; class < KW_CLASS_COUNT; class ++) {
    for (uint32_t n = 0; kw_case_make(op, KW_F32, (kw_case_class) class, n, &c); n++) count++;
  }
  return count;
}

static void has_gap(const kw_suite_op *op, const char *want) {
  char *why = kw_case_vendor_gap(op);
  if (!strstr(why, want)) fail_msg("'%s' does not say '%s'", why, want);
  assert_int_equal(case_count(op), 0);
  free(why);
}

/* The values that argument `arg` has in the cases about attributes, and how many are different. */
static uint32_t variety(const kw_suite_op *op, uint32_t arg) {
  kw_case c;
  uint32_t count = 0;
  char seen[16][64];
  for (uint32_t n = 0; kw_case_make(op, KW_F32, KW_CLASS_ATTRS, n, &c); n++) {
    const kw_value v = kw_case_arg_value(&c, arg);
    char text[64] = "none";
    if (v.tag == KW_TAG_STRING) snprintf(text, sizeof text, "%s", v.u.s);
    if (v.tag == KW_TAG_FLOAT) snprintf(text, sizeof text, "%g", v.u.f);
    if (v.tag == KW_TAG_INT) snprintf(text, sizeof text, "%d", (int)v.u.i);
    if (v.tag == KW_TAG_BOOL) snprintf(text, sizeof text, "%d", v.u.b);
    if (v.tag == KW_TAG_TENSOR) snprintf(text, sizeof text, "tensor");
    if (v.tag == KW_TAG_INT_LIST || v.tag == KW_TAG_TENSOR_LIST) snprintf(text, sizeof text, "list of %u", v.count);
    uint32_t i = 0;
    while (i < count && strcmp(seen[i], text) != 0) i++;
    if (i == count) strcpy(seen[count++], text);
  }
  return count;
}

static void every_kind_of_argument_varies(void **state) {
  (void)state;
  kw_suite_op op = op_of("acme::all");
  add_arg(&op, "self", KW_TAG_TENSOR);
  add_arg(&op, "by", KW_TAG_TENSOR)->optional = true;
  add_arg(&op, "tensors", KW_TAG_TENSOR_LIST);
  add_arg(&op, "more", KW_TAG_TENSOR_LIST);
  add_arg(&op, "ints", KW_TAG_INT_LIST);
  add_arg(&op, "pair", KW_TAG_INT_LIST)->list_size = 2;
  add_arg(&op, "scale", KW_TAG_FLOAT);
  add_arg(&op, "dim", KW_TAG_INT);
  add_arg(&op, "flag", KW_TAG_BOOL);
  kw_suite_arg *how = add_arg(&op, "how", KW_TAG_STRING);
  how->text_count = 2;
  strcpy(how->texts[0], "once");
  strcpy(how->texts[1], "twice");
  assert_true(case_count(&op) > 20);
  static const uint32_t least[] = {1, 2, 4, 4, 5, 1, 4, 3, 2, 2};
  for (uint32_t i = 0; i < op.arg_count; i++) {
    if (variety(&op, i) < least[i]) fail_msg("%s has %u values", op.args[i].name, variety(&op, i));
  }
  kw_case c;
  assert_true(kw_case_make(&op, KW_F32, KW_CLASS_PRIME, 0, &c));
  assert_int_equal(kw_case_arg_value(&c, 2).count, 3);
  assert_true(c.tensors[c.args[2].first + 2].given && c.tensors[c.args[3].first].given);
  assert_int_equal(kw_case_arg_value(&c, 5).count, 2);
}

static void as_many_arguments_as_there_can_be(void **state) {
  (void)state;
  kw_suite_op op = op_of("acme::most"), lists = op_of("acme::lists");
  for (int i = 0; i < KW_MAX_ARGS; i++) {
    char name[8];
    snprintf(name, sizeof name, "a%d", i);
    add_arg(&op, name, KW_TAG_TENSOR);
    add_arg(&lists, name, i < 12 ? KW_TAG_TENSOR_LIST : KW_TAG_INT_LIST);
  }
  assert_true(case_count(&op) > 15 && case_count(&lists) > 15);
}

static void what_has_no_cases_says_why(void **state) {
  (void)state;
  kw_suite_op op = op_of("acme::none");
  kw_suite_arg *how = add_arg(&op, "how", KW_TAG_STRING);
  has_gap(&op, "argument how has no default");
  how->has_default = true;
  has_gap(&op, "it takes no tensor");
  op.unheld = true;
  has_gap(&op, "longer than the suite can hold");
  op.unheld = false;
  add_arg(&op, "self", KW_TAG_TENSOR);
  assert_true(case_count(&op) > 15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_argument_varies),
      cmocka_unit_test(as_many_arguments_as_there_can_be),
      cmocka_unit_test(what_has_no_cases_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

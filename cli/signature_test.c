/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void schema_is_taken_apart(void **state) {
  (void)state;
  kw_cli_signature s;
  kw_cli_signature_read(
      "acme::op.x(Tensor(b!) self, Tensor? mask, Tensor?[] list, int[2]? dim=[1, 2], *, str mode='a, (b', float f=1.5, "
      "ScalarType? dtype=None) -> (Tensor, Tensor(b!))",
      &s);
  static const char *const names[] = {"self", "mask", "list", "dim", "mode", "f", "dtype"};
  assert_int_equal(s.param_count, 7);
  for (int i = 0; i < 7; ++i) {
    assert_string_equal(s.params[i].name, names[i]);
    assert_int_equal(kw_cli_signature_find(&s, names[i]), i);
    assert_int_equal(kw_cli_param_is_tensor(&s.params[i]), i < 3);
  }
  assert_int_equal(kw_cli_signature_find(&s, "nope"), -1);
  assert_true(s.params[0].alias == 'b' && !s.params[0].optional && !s.params[0].list);
  assert_true(s.params[1].optional && !s.params[1].list && s.params[2].list && !s.params[2].optional);
  assert_true(s.params[3].list && s.params[3].optional);
  assert_string_equal(s.params[3].default_text, "[1, 2]");
  assert_string_equal(s.params[4].default_text, "'a, (b'");
  assert_string_equal(s.params[5].type, "float");
  assert_string_equal(s.params[6].type, "ScalarType");
  assert_true(s.params[6].optional && !s.params[5].optional);
  assert_int_equal(s.result_count, 2);
  assert_true(s.result_alias[0] == -1 && s.result_alias[1] == 0);
}

/* The library accepts every schema of its table; so must this reader, defaults included. */
static void whole_op_table_is_read(void **state) {
  (void)state;
  for (uint32_t i = 0; i < kw_op_count(); ++i) {
    kw_op_info info = {.struct_size = sizeof info};
    kw_op_get_info(kw_op_at(i), &info);
    kw_cli_signature s;
    kw_cli_signature_read(info.schema, &s);
    assert_int_equal(s.param_count, info.arg_count);
    assert_int_equal(s.result_count, info.result_count);
    for (uint32_t k = 0; k < s.param_count; ++k) {
      kw_cli_storage storage;
      kw_value value;
      const kw_cli_param *param = &s.params[k];
      if (!*param->default_text || kw_cli_param_is_tensor(param)) continue;
      if (!kw_cli_param_parse(param, param->default_text, &storage, &value)) fail_msg("%s: %s", info.name, param->name);
    }
  }
}

static kw_value parse(const char *type, bool list, const char *text) {
  static kw_cli_storage storage;
  kw_cli_param param = {.list = list, .optional = strchr(type, '?') != NULL};
  snprintf(param.type, sizeof param.type, "%.*s", (int)strcspn(type, "?"), type);
  kw_value value;
  if (!kw_cli_param_parse(&param, text, &storage, &value)) value.tag = 99;
  return value;
}

static void values_are_read(void **state) {
  (void)state;
  assert_int_equal(parse("int", false, "-3").u.i, -3);
  assert_true(parse("float", false, "1e-5").u.f == 1e-5 && isinf(parse("float", false, "-inf").u.f));
  assert_true(parse("bool", false, "True").u.b && !parse("bool", false, "false").u.b);
  assert_string_equal(parse("str", false, "none").u.s, "none");
  assert_string_equal(parse("str", false, "'tanh'").u.s, "tanh");
  assert_int_equal(parse("str?", false, "none").tag, KW_TAG_NONE);
  assert_int_equal(parse("ScalarType", false, "bf16").u.dtype, KW_BF16);
  kw_value list = parse("int", true, "[0, -1]");
  assert_true(list.tag == KW_TAG_INT_LIST && list.count == 2 && list.u.ints[1] == -1);
  assert_int_equal(parse("int", true, "7,8,9").count, 3);
  assert_int_equal(parse("int", true, "[]").count, 0);
  assert_true(parse("Scalar", false, "2").kind == KW_SCALAR_I64 && parse("Scalar", false, "2.").kind == KW_SCALAR_F64);
  assert_int_equal(parse("Scalar", false, "99999999999999999999").kind, KW_SCALAR_F64);
  assert_int_equal(parse("Scalar", false, "true").kind, KW_SCALAR_BOOL);
  kw_value complex = parse("Scalar", false, "1-2j");
  assert_true(complex.kind == KW_SCALAR_C128 && complex.u.c[0] == 1 && complex.u.c[1] == -2);
  assert_true(parse("Scalar", false, "3j").u.c[1] == 3);

  static const struct {
    const char *type;
    bool list;
    const char *text;
  } refused[] = {
      {"int", false, ""},         {"int", false, "1.5"},    {"int", false, "99999999999999999999"},
      {"int", false, "none"},     {"int", true, "1,x"},     {"int", true, "[1"},
      {"int", true, "1]"},        {"float", false, "1.5x"}, {"bool", false, "1"},
      {"Scalar", false, "1+2"},   {"Scalar", false, "x"},   {"ScalarType", false, "float32"},
      {"Tensor", false, "x.npy"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    if (parse(refused[i].type, refused[i].list, refused[i].text).tag != 99) fail_msg("accepted '%s'", refused[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schema_is_taken_apart),
      cmocka_unit_test(whole_op_table_is_read),
      cmocka_unit_test(values_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of op arguments, read from text.
 */
#include "value.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define NO_TAG ((kw_tag)0xffff)

/* The value of an argument of this tag; its tag is NO_TAG when the text was refused. */
static kw_value parse_as(kw_tag tag, uint64_t flags, const char *text) {
  static kw_cli_storage storage;
  const kw_arg_info arg = {.struct_size = sizeof arg, .flags = flags, .tag = tag};
  kw_value value;
  if (!kw_cli_value_parse(&arg, text, &storage, &value)) value.tag = NO_TAG;
  return value;
}

static kw_value parse(kw_tag tag, const char *text) {
  return parse_as(tag, 0, text);
}

static void values_are_read(void **state) {
  (void)state;
  assert_int_equal(parse(KW_TAG_INT, "-3").u.i, -3);
  assert_true(parse(KW_TAG_FLOAT, "1e-5").u.f == 1e-5 && isinf(parse(KW_TAG_FLOAT, "-inf").u.f));
  assert_true(parse(KW_TAG_BOOL, "True").u.b && !parse(KW_TAG_BOOL, "false").u.b);
  assert_string_equal(parse(KW_TAG_STRING, "none").u.s, "none");
  assert_string_equal(parse(KW_TAG_STRING, "it's").u.s, "it's");
  char text[257];
  memset(text, 'x', sizeof text);
  text[256] = '\0';
  assert_int_equal(parse(KW_TAG_STRING, text).tag, NO_TAG);
  text[255] = '\0';
  assert_string_equal(parse(KW_TAG_STRING, text).u.s, text);
  assert_int_equal(parse_as(KW_TAG_STRING, KW_ARG_OPTIONAL, "none").tag, KW_TAG_NONE);
  assert_int_equal(parse(KW_TAG_DTYPE, "bf16").u.dtype, KW_BF16);
  kw_value list = parse(KW_TAG_INT_LIST, "[0, -1]");
  assert_true(list.tag == KW_TAG_INT_LIST && list.count == 2 && list.u.ints[1] == -1);
  assert_int_equal(parse(KW_TAG_INT_LIST, "7,8,9").count, 3);
  assert_int_equal(parse(KW_TAG_INT_LIST, "[]").count, 0);
  assert_true(parse(KW_TAG_SCALAR, "2").kind == KW_SCALAR_I64 && parse(KW_TAG_SCALAR, "2.").kind == KW_SCALAR_F64);
  assert_int_equal(parse(KW_TAG_SCALAR, "99999999999999999999").kind, KW_SCALAR_F64);
  assert_int_equal(parse(KW_TAG_SCALAR, "true").kind, KW_SCALAR_BOOL);
  kw_value complex = parse(KW_TAG_SCALAR, "1-2j");
  assert_true(complex.kind == KW_SCALAR_C128 && complex.u.c[0] == 1 && complex.u.c[1] == -2);
  assert_true(parse(KW_TAG_SCALAR, "3j").u.c[1] == 3);

  static const struct {
    kw_tag tag;
    const char *text;
  } refused[] = {
      {KW_TAG_INT, ""},         {KW_TAG_INT, "1.5"},      {KW_TAG_INT, "99999999999999999999"},
      {KW_TAG_INT, "none"},     {KW_TAG_INT_LIST, "1,x"}, {KW_TAG_INT_LIST, "[1"},
      {KW_TAG_INT_LIST, "1]"},  {KW_TAG_FLOAT, "1.5x"},   {KW_TAG_BOOL, "1"},
      {KW_TAG_SCALAR, "1+2"},   {KW_TAG_SCALAR, "x"},     {KW_TAG_DTYPE, "float32"},
      {KW_TAG_TENSOR, "x.npy"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    if (parse(refused[i].tag, refused[i].text).tag != NO_TAG) fail_msg("accepted '%s'", refused[i].text);
  }
}

static void each_type_says_what_it_expects(void **state) {
  (void)state;
  for (kw_tag tag = KW_TAG_TENSOR; tag <= KW_TAG_GENERATOR; ++tag) {
    const kw_arg_info arg = {.struct_size = sizeof arg, .tag = tag};
    bool tensor = tag == KW_TAG_TENSOR || tag == KW_TAG_TENSOR_LIST;
    assert_int_equal(strcmp(kw_cli_value_expects(&arg), "a tensor") == 0, tensor);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_read),
      cmocka_unit_test(each_type_says_what_it_expects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

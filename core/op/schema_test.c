/* SPDX-License-Identifier: Apache-2.0
 *
 * What schemas are taken apart into, and which ones are malformed.
 */
#include "op/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void whole_op_table_parses(void **state) {
  (void)state;
  assert_true(kw_op_table_count > 0);
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    kw_schema schema;
    if (kw_schema_parse(kw_op_table[i].schema, &schema) != KW_OK) fail_msg("%s", kw_error_message());
    bool changes = false;
    for (uint32_t k = 0; k < schema.arg_count; ++k) changes |= schema.args[k].mutated;
    assert_true(schema.result_count >= 1 || changes);
    assert_string_equal(schema.text, kw_op_table[i].schema);
    assert_memory_equal(schema.name, schema.text, strlen(schema.name));
    assert_int_equal(schema.text[strlen(schema.name)], '(');
    const bool returned = schema.args[0].mutated && schema.args[0].tag == KW_TAG_TENSOR;
    if (schema.result_count > 0) assert_int_equal(schema.results[0].alias_of, returned ? 0 : -1);
    kw_schema_free(&schema);
  }
}

static void every_type_and_default(void **state) {
  (void)state;
  kw_schema s;
  assert_int_equal(
      kw_schema_parse("acme::all.kinds(Tensor(b!) self, Tensor? mask, Tensor[] many, Tensor?[] gaps, int n=-3, "
                      "SymInt? m=None, int[] list=[1, -2, 3], int[2] pair=7, int[1]? dim=[], float f=2.5e-1, float g=2,"
                      " bool b=True, str s='a b', *, str? t=\"it's\", Scalar x=1, Scalar y=1.5) -> (Tensor(b!), Tensor "
                      "extra)",
                      &s),
      KW_OK);
  assert_string_equal(s.name, "acme::all.kinds");
  assert_int_equal(s.arg_count, 16);
  assert_int_equal(s.required_count, 4);
  assert_true(s.args[0].mutated && !s.args[0].optional && s.args[0].tag == KW_TAG_TENSOR);
  assert_true(s.args[1].optional && s.args[1].tag == KW_TAG_TENSOR && !s.args[1].has_default);
  assert_true(s.args[2].tag == KW_TAG_TENSOR_LIST && !s.args[2].list_optional);
  assert_true(s.args[3].tag == KW_TAG_TENSOR_LIST && s.args[3].list_optional && !s.args[3].optional);
  assert_int_equal(s.args[4].default_value.u.i, -3);
  assert_true(s.args[5].tag == KW_TAG_INT && s.args[5].optional && s.args[5].default_value.tag == KW_TAG_NONE);
  assert_int_equal(s.args[6].default_value.count, 3);
  assert_int_equal(s.args[6].default_value.u.ints[1], -2);
  assert_int_equal(s.args[7].list_size, 2);
  assert_int_equal(s.args[7].default_value.count, 2);
  assert_int_equal(s.args[7].default_value.u.ints[1], 7);
  assert_true(s.args[8].optional && s.args[8].list_size == 1 && s.args[8].default_value.tag == KW_TAG_INT_LIST);
  assert_int_equal(s.args[8].default_value.count, 0);
  assert_true(s.args[9].default_value.u.f == 0.25 && s.args[10].default_value.u.f == 2);
  assert_true(s.args[11].default_value.u.b);
  assert_string_equal(s.args[12].default_value.u.s, "a b");
  assert_false(s.args[12].keyword_only);
  assert_true(s.args[13].keyword_only && s.args[15].keyword_only);
  assert_string_equal(s.args[13].default_value.u.s, "it's");
  assert_int_equal(s.args[14].default_value.kind, KW_SCALAR_I64);
  assert_int_equal(s.args[15].default_value.kind, KW_SCALAR_F64);
  assert_true(s.args[15].default_value.u.f == 1.5);
  assert_int_equal(s.result_count, 2);
  assert_int_equal(s.results[0].alias_of, 0);
  assert_int_equal(s.results[1].alias_of, -1);
  kw_schema_free(&s);
  assert_null(s.text);

  assert_int_equal(kw_schema_parse("x::y() -> ()", &s), KW_OK);
  assert_int_equal(s.arg_count + s.result_count, 0);
  kw_schema_free(&s);

  assert_int_equal(kw_schema_parse("x::y(Tensor a, bool[2] output_mask, bool[3] b) -> (Tensor, Tensor)", &s), KW_OK);
  assert_true(s.args[1].tag == KW_TAG_INT_LIST && s.args[1].bool_count == 2 && s.args[1].list_size == 0);
  assert_int_equal(s.args[2].bool_count, 3);
  assert_int_equal(s.output_mask, 1);
  kw_schema_free(&s);

  assert_int_equal(kw_schema_parse("x::y(Tensor a, int[2] output_mask) -> (Tensor, Tensor)", &s), KW_OK);
  assert_int_equal(s.output_mask, -1);
  kw_schema_free(&s);

  /* A required argument after the star makes those before it required as well, because calls are positional. */
  assert_int_equal(kw_schema_parse("x::y(Tensor a, int b=1, *, int c, int d=2) -> Tensor", &s), KW_OK);
  assert_int_equal(s.required_count, 3);
  kw_schema_free(&s);
}

static const struct {
  const char *text;
  int column;
  const char *says;
} malformed[] = {
    {"", 1, "the op's name"},
    {"1add(Tensor self) -> Tensor", 1, "the op's name"},
    {"add", 4, "'('"},
    {"add.(Tensor self) -> Tensor", 5, "overload"},
    {"acme::(Tensor self) -> Tensor", 7, "after the namespace"},
    {"a::b::c(Tensor self) -> Tensor", 5, "'('"},
    {"add(", 5, "a type"},
    {"add(Tensor", 11, "the argument's name"},
    {"add(Tensor self", 16, "',' or ')'"},
    {"add(Tensor self)", 17, "'->'"},
    {"add(Tensor self) ->", 20, "a result"},
    {"add(Tensor self) -> Tensors", 21, "a result"},
    {"add(Tensor self) -> Tensor, Tensor", 27, "the end"},
    {"add(Tensor self) -> (Tensor", 28, "',' or ')'"},
    {"add(Tensor self,) -> Tensor", 17, "a type"},
    {"add(tensor self) -> Tensor", 5, "a type"},
    {"add(Tensor(a) self) -> Tensor", 13, "'!'"},
    {"add(Tensor(A!) self) -> Tensor", 12, "lower-case letter"},
    {"add(Tensor(a!)?[] self) -> Tensor", 5, "a list marked (a!) has no absent entries"},
    {"add(Tensor(a!)[] self) -> Tensor(a!)", 27, "the argument marked (a!) is a list, which is no result"},
    {"add(int(a!) n) -> Tensor", 5, "only a Tensor"},
    {"add(float[] f) -> Tensor", 5, "make lists"},
    {"add(int?[] n) -> Tensor", 5, "make lists"},
    {"add(bool?[2] n) -> Tensor", 5, "make lists"},
    {"add(bool[] n) -> Tensor", 10, "number of bools"},
    {"add(bool[2] output_mask) -> Tensor", 35, "2 bools for 1 result"},
    {"add(Tensor[2] t) -> Tensor", 12, "only int lists"},
    {"add(int[0] n) -> Tensor", 9, "1 to 64"},
    {"add(int[99999999999999999999] n) -> Tensor", 9, "1 to 64"},
    {"add(int[1 n) -> Tensor", 11, "']'"},
    {"add(Tensor(a!) self) -> Tensor(b!)", 25, "no argument is marked (b!)"},
    {"add(Tensor self, Tensor self) -> Tensor", 25, "a second argument 'self'"},
    {"add(Tensor(a!) s, Tensor(a!) t) -> Tensor", 30, "a second argument marked"},
    {"add(int a=1, int b) -> Tensor", 18, "no default"},
    {"add(*, Tensor a, *, Tensor b) -> Tensor", 18, "a second '*'"},
    {"add(Tensor a, *) -> Tensor", 16, "after '*'"},
    {"add(Tensor a=None) -> Tensor", 14, "'?'"},
    {"add(Tensor? a=1) -> Tensor", 15, "only default"},
    {"add(int a=None) -> Tensor", 11, "'?'"},
    {"add(int a=1.5) -> Tensor", 11, "an integer"},
    {"add(int a=99999999999999999999) -> Tensor", 11, "64 bits"},
    {"add(int[] a=1) -> Tensor", 13, "'['"},
    {"add(int[] a=[1 2]) -> Tensor", 16, "',' or ']'"},
    {"add(int[] a=[1, 2) -> Tensor", 18, "',' or ']'"},
    {"add(float a=x) -> Tensor", 13, "a number"},
    {"add(bool a=1) -> Tensor", 12, "True or False"},
    {"add(bool a=Trueish) -> Tensor", 12, "True or False"},
    {"add(str a=abc) -> Tensor", 11, "a quoted text"},
    {"add(str a='abc) -> Tensor", 11, "no closing"},
    {"add(Scalar a=one) -> Tensor", 14, "True or False"},
    {"add(Tensor a;) -> Tensor", 13, "',' or ')'"},
    {"add(Tensor abcdefghijklmnopqrstuvwxyz_1234567) -> Tensor", 12, "too long"},
    {"abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijkl(Tensor a) -> Tensor", 1, "too long"},
    {"f(int a,int b,int c,int d,int e,int f,int g,int h,int i,int j,int k,int l,int m,int n,int o,int p,int q,int "
     "r,int s,int t,int u,int v,int w,int x,int y) -> Tensor",
     147, "more than 24"},
    {"f(int a) -> (Tensor,Tensor,Tensor,Tensor,Tensor,Tensor,Tensor,Tensor,Tensor)", 70, "more than 8"},
};

static void malformed_schemas_name_their_column(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; ++i) {
    kw_schema schema;
    kw_error_clear();
    if (kw_schema_parse(malformed[i].text, &schema) != KW_ERR_INVALID_ARGUMENT)
      fail_msg("%s parses", malformed[i].text);
    const char *column = strstr(kw_error_message(), "\": column ");
    if (!column || atoi(column + 10) != malformed[i].column || !strstr(column, malformed[i].says)) {
      fail_msg("wanted column %d and \"%s\": %s", malformed[i].column, malformed[i].says, kw_error_message());
    }
    assert_null(schema.text);
    assert_null(schema.default_ints);
    assert_null(schema.default_strings);
  }
  kw_schema schema;
  assert_int_equal(kw_schema_parse(NULL, &schema), KW_ERR_INVALID_ARGUMENT);
}

/* Cutting or changing any one character of a good schema must never crash, and never leak (run with a sanitizer). */
static void damaged_schemas_are_survived(void **state) {
  (void)state;
  static const char good[] =
      "acme::op.x(Tensor(a!) self, int[2] k=[1, 2], str s='t', *, Scalar? v=1.5) -> (Tensor(a!), Tensor y)";
  static const char replacements[] = "(),*=[]'!?.0aT -";
  for (size_t at = 0; at < sizeof good - 1; ++at) {
    for (size_t r = 0; r < sizeof replacements; ++r) {
      char text[sizeof good];
      memcpy(text, good, sizeof good);
      text[at] = replacements[r]; /* the last one is NUL: a cut */
      kw_schema schema;
      if (kw_schema_parse(text, &schema) == KW_OK) kw_schema_free(&schema);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_op_table_parses),
      cmocka_unit_test(every_type_and_default),
      cmocka_unit_test(malformed_schemas_name_their_column),
      cmocka_unit_test(damaged_schemas_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

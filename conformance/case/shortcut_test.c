/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with which drivers compute in another way: that elements beside them are special and of all sizes, and that
 * those which are stored tell one rounding from two.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "case/attr.h"
#include "case/make.h"

#include <string.h>

static void ties_tell_roundings(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_BF16, KW_F8E4M3FN, KW_F8E5M2};
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    assert_true(kw_case_takes_tie_scalars(dtypes[d]));
    for (uint32_t i = 0; i < KW_CASE_TIE_SCALARS; i++) {
      const double tie = kw_case_tie_scalar(dtypes[d], i);
      const double once = kw_element_round(dtypes[d], (kw_wide){tie, 0});
      const double twice = kw_element_round(dtypes[d], (kw_wide){(float)tie, 0});
      if (once == twice) fail_msg("%s: number %u is %g either way", kw_element_name(dtypes[d]), i, once);
    }
  }
  assert_false(kw_case_takes_tie_scalars(KW_F32));
  assert_false(kw_case_takes_tie_scalars(KW_I32));
}

/* Every special value at its place, none of them signaling, and behind them numbers of all sizes. */
static void bits_follow_the_list(void **state) {
  (void)state;
  const uint64_t listed = kw_value_special_count(KW_F32);
  const kw_value_key key = {.seed = 4, .extent = listed + 231, .domain = KW_DOMAIN_SPECIAL_BITS};
  kw_value_key list = key;
  list.domain = KW_DOMAIN_SPECIAL;
  uint32_t large = 0, small = 0;
  for (uint64_t i = 0; i < key.extent; i++) {
    float x, same;
    uint32_t bits;
    kw_value_make(&key, KW_F32, i, &x);
    kw_value_make(&list, KW_F32, i, &same);
    memcpy(&bits, &x, sizeof bits);
    if (i < listed) assert_memory_equal(&x, &same, sizeof x);
    if (isnan(x)) assert_true(bits & 0x400000);
    large += isfinite(x) && fabsf(x) > 0x1p64f;
    small += fabsf(x) < 0x1p-64f;
  }
  assert_in_range(large, 30, 120);
  assert_in_range(small, 30, 120);
}

static const kw_suite_op *find_op(const char *name) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(ops[i].name, name) == 0) return &ops[i];
  }
  return NULL;
}

/* Whether a case of class special of the op's has this number as argument `arg`. */
static bool meets(const char *op, kw_dtype key, uint32_t arg, double number) {
  kw_case c;
  for (uint32_t n = 0; kw_case_make(find_op(op), key, KW_CLASS_SPECIAL, n, &c); n++) {
    const kw_value *value = &c.args[arg].value;
    if (value->tag != KW_TAG_SCALAR) continue;
    const double given = value->kind == KW_SCALAR_I64 ? (double)value->u.i : value->u.f;
    if (given == number && signbit(given) == signbit(number)) return true;
  }
  return false;
}

static void shortcuts_are_met(void **state) {
  (void)state;
  static const double exponents[] = {0, 0.5, -0.5, 1.5, -2, 2, 3, -1, 1};
  for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
    assert_true(meets("pow.Tensor_Scalar", KW_F32, 1, exponents[i]));
  }
  kw_case c;
  assert_true(kw_case_make(find_op("pow.Tensor_Tensor"), KW_F32, KW_CLASS_SPECIAL, 2, &c)); /* behind the edges */
  assert_true(c.tensors[0].domain == KW_DOMAIN_SPECIAL_BITS && c.tensors[1].domain == KW_DOMAIN_FEW);
  assert_true(meets("pow.Scalar", KW_F16, 0, 1));
  assert_true(meets("div.Scalar", KW_F32, 1, 0x1p-146));
  assert_true(meets("div.Scalar_mode", KW_I64, 1, -1));
  assert_true(meets("mul.Scalar", KW_F32, 1, -0.0));
  assert_true(meets("add.Tensor", KW_F32, 2, -1));
  assert_true(meets("clamp", KW_F32, 1, 0));
  assert_true(meets("clamp", KW_I32, 2, INT32_MAX));
  assert_true(meets("leaky_relu", KW_F32, 1, 0));
  assert_true(meets("bitwise_left_shift.Tensor_Scalar", KW_U8, 1, 8));
  assert_false(meets("fill_.Scalar", KW_F32, 1, -0.0)); /* it computes nothing */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ties_tell_roundings), cmocka_unit_test(bits_follow_the_list),
                                     cmocka_unit_test(shortcuts_are_met)};
  return cmocka_run_group_tests_name("case shortcuts", tests, NULL, NULL);
}

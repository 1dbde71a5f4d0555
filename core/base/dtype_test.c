/* SPDX-License-Identifier: Apache-2.0
 *
 * Names, sizes and promotion of dtypes.
 */
#include "base/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define X KW_DTYPE_NONE

/* torch.promote_types over our dtypes, written out. Columns in the order of the rows. f8 promotes with itself only. */
static const kw_dtype table[KW_KEY_DTYPE_COUNT][KW_KEY_DTYPE_COUNT] = {
    [KW_BOOL] = {KW_BOOL, KW_U8, KW_I8, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_U8] = {KW_U8, KW_U8, KW_I16, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_I8] = {KW_I8, KW_I16, KW_I8, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_I16] = {KW_I16, KW_I16, KW_I16, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_I32] = {KW_I32, KW_I32, KW_I32, KW_I32, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_I64] = {KW_I64, KW_I64, KW_I64, KW_I64, KW_I64, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_F16] = {KW_F16, KW_F16, KW_F16, KW_F16, KW_F16, KW_F16, KW_F16, KW_F32, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_BF16] = {KW_BF16, KW_BF16, KW_BF16, KW_BF16, KW_BF16, KW_BF16, KW_F32, KW_BF16, KW_F32, KW_F64, X, X, KW_C64,
                 KW_C128},
    [KW_F32] = {KW_F32, KW_F32, KW_F32, KW_F32, KW_F32, KW_F32, KW_F32, KW_F32, KW_F32, KW_F64, X, X, KW_C64, KW_C128},
    [KW_F64] = {KW_F64, KW_F64, KW_F64, KW_F64, KW_F64, KW_F64, KW_F64, KW_F64, KW_F64, KW_F64, X, X, KW_C128, KW_C128},
    [KW_F8E4M3FN] = {X, X, X, X, X, X, X, X, X, X, KW_F8E4M3FN, X, X, X},
    [KW_F8E5M2] = {X, X, X, X, X, X, X, X, X, X, X, KW_F8E5M2, X, X},
    [KW_C64] = {KW_C64, KW_C64, KW_C64, KW_C64, KW_C64, KW_C64, KW_C64, KW_C64, KW_C64, KW_C128, X, X, KW_C64, KW_C128},
    [KW_C128] = {KW_C128, KW_C128, KW_C128, KW_C128, KW_C128, KW_C128, KW_C128, KW_C128, KW_C128, KW_C128, X, X,
                 KW_C128, KW_C128},
};

static void promotion_is_atens_table(void **state) {
  (void)state;
  for (kw_dtype a = 0; a < KW_KEY_DTYPE_COUNT; ++a) {
    for (kw_dtype b = 0; b < KW_KEY_DTYPE_COUNT; ++b) {
      if (kw_dtype_promote(a, b) != table[a][b]) {
        fail_msg("%s with %s gives %u, not %u", kw_dtype_name(a), kw_dtype_name(b), kw_dtype_promote(a, b),
                 table[a][b]);
      }
      assert_int_equal(table[a][b], table[b][a]);
    }
  }
  for (kw_dtype a = KW_KEY_DTYPE_COUNT; a < KW_DTYPE_COUNT; ++a) { /* no op computes on these: with themselves only */
    for (kw_dtype b = 0; b < KW_DTYPE_COUNT; ++b) {
      assert_int_equal(kw_dtype_promote(a, b), a == b ? a : KW_DTYPE_NONE);
      assert_int_equal(kw_dtype_promote(b, a), a == b ? a : KW_DTYPE_NONE);
    }
    assert_false(kw_dtype_is_integral(a) || kw_dtype_is_float(a) || kw_dtype_is_complex(a));
  }
  assert_int_equal(kw_dtype_promote(KW_DTYPE_COUNT, KW_F32), KW_DTYPE_NONE);
  assert_int_equal(kw_dtype_promote(KW_F32, KW_DTYPE_NONE), KW_DTYPE_NONE);
}

static void names_and_sizes(void **state) {
  (void)state;
  static const size_t sizes[KW_DTYPE_COUNT] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1, 8, 16, 2, 4, 8, 1, 1, 1, 4, 1, 1, 1};
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; ++d) {
    assert_non_null(kw_dtype_name(d));
    assert_int_equal(kw_dtype_from_name(kw_dtype_name(d)), d);
    assert_int_equal(kw_dtype_size(d), sizes[d]);
  }
  assert_int_equal(kw_dtype_from_name("u64"), 16); /* the numbers are for ever */
  assert_int_equal(kw_dtype_from_name("f4e2m1x2"), 23);
  assert_null(kw_dtype_name(KW_DTYPE_COUNT));
  assert_int_equal(kw_dtype_size(KW_DTYPE_NONE), 0);
  assert_int_equal(kw_dtype_from_name("float"), KW_DTYPE_NONE);
  assert_string_equal(kw_error_message(), "there is no dtype 'float'; did you mean 'f32'?");
  assert_int_equal(kw_dtype_from_name("BF16"), KW_DTYPE_NONE);
  assert_string_equal(kw_error_message(), "there is no dtype 'BF16'; did you mean 'bf16'?");
  assert_int_equal(kw_dtype_from_name("quaternion"), KW_DTYPE_NONE);
  assert_null(strstr(kw_error_message(), "did you mean"));
  assert_int_equal(kw_dtype_from_name(NULL), KW_DTYPE_NONE);
  char text[128];
  assert_string_equal(kw_dtype_list(KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_F16), text, sizeof text), "u8, f16");
  assert_string_equal(kw_dtype_list(KW_DTYPES_ANY, text, sizeof text),
                      "bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, f8e4m3fn, f8e5m2, c64, c128");
}

/* rank 1 operand (or X), rank 0 operand (or X), Scalar kind (or -1) -> result: what torch.result_type says. */
static const struct {
  kw_dtype dim, rank0;
  int scalar;
  kw_dtype result;
} categories[] = {
    {KW_F32, X, KW_SCALAR_F64, KW_F32},
    {KW_F16, X, KW_SCALAR_F64, KW_F16},
    {KW_F16, X, KW_SCALAR_I64, KW_F16},
    {KW_I32, X, KW_SCALAR_I64, KW_I32},
    {KW_U8, X, KW_SCALAR_I64, KW_U8},
    {KW_I64, X, KW_SCALAR_F64, KW_F32},
    {KW_BOOL, X, KW_SCALAR_I64, KW_I64},
    {KW_BOOL, X, KW_SCALAR_BOOL, KW_BOOL},
    {KW_BOOL, X, KW_SCALAR_F64, KW_F32},
    {KW_F32, KW_F64, -1, KW_F32},
    {KW_F16, KW_BF16, -1, KW_F16},
    {KW_I8, KW_I64, -1, KW_I8},
    {KW_I8, KW_F64, -1, KW_F64},
    {KW_BOOL, KW_I16, -1, KW_I16},
    {KW_I32, KW_F16, KW_SCALAR_F64, KW_F16},
    {X, KW_I32, KW_SCALAR_F64, KW_F32},
    {X, KW_F64, KW_SCALAR_F64, KW_F64},
    {X, KW_F16, KW_SCALAR_F64, KW_F16},
    {X, KW_BOOL, KW_SCALAR_I64, KW_I64},
    {KW_F64, X, KW_SCALAR_C128, KW_C128},
    {KW_F32, KW_C128, -1, KW_C64},
    {KW_I32, X, KW_SCALAR_C128, KW_C64},
    {KW_C64, KW_C128, -1, KW_C64},
    {KW_F8E5M2, X, KW_SCALAR_F64, KW_F8E5M2},
    {KW_F8E5M2, KW_F32, -1, KW_F8E5M2},
    {KW_I32, KW_F8E5M2, -1, X},
    {KW_F8E5M2, X, KW_SCALAR_C128, X},
    {X, X, KW_SCALAR_F64, KW_F32},
    {KW_BOOL, KW_BOOL, KW_SCALAR_F64, KW_F32},
    {X, X, -1, X},
};

static void categories_combine_as_in_aten(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof categories / sizeof categories[0]; ++i) {
    kw_promotion promotion = KW_PROMOTION_INIT;
    kw_tensor_ref dim = {.dtype = categories[i].dim, .rank = 1}, rank0 = {.dtype = categories[i].rank0, .rank = 0};
    kw_value scalar = {.tag = KW_TAG_SCALAR, .kind = (kw_scalar_kind)categories[i].scalar};
    if (categories[i].scalar >= 0) kw_promotion_add_scalar(&promotion, &scalar);
    if (dim.dtype != X) kw_promotion_add_tensor(&promotion, &dim);
    if (rank0.dtype != X) kw_promotion_add_tensor(&promotion, &rank0);
    kw_dtype result = kw_promotion_result(&promotion);
    if (result != categories[i].result) fail_msg("row %zu: %u, not %u", i, result, categories[i].result);
  }
}

static void refused_pairs_are_named(void **state) {
  (void)state;
  kw_promotion promotion = KW_PROMOTION_INIT;
  kw_tensor_ref a = {.dtype = KW_F8E4M3FN, .rank = 1}, b = {.dtype = KW_F8E5M2, .rank = 2}, c = {.dtype = KW_F32};
  kw_promotion_add_tensor(&promotion, &a);
  kw_promotion_add_tensor(&promotion, &b);
  kw_promotion_add_tensor(&promotion, &c);
  assert_int_equal(kw_promotion_result(&promotion), KW_DTYPE_NONE);
  assert_int_equal(promotion.refused[0], KW_F8E4M3FN);
  assert_int_equal(promotion.refused[1], KW_F8E5M2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(promotion_is_atens_table),
      cmocka_unit_test(names_and_sizes),
      cmocka_unit_test(categories_combine_as_in_aten),
      cmocka_unit_test(refused_pairs_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

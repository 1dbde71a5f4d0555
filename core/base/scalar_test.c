/* SPDX-License-Identifier: Apache-2.0
 *
 * Scalars stored as each dtype.
 */
#include "base/scalar.h"

#include <keyway/keyway.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint64_t stored(kw_value scalar, kw_dtype dtype) {
  uint64_t words[2] = {0, 0};
  kw_scalar_store(&scalar, dtype, words);
  return words[0];
}

static uint64_t stored_f64(double value, kw_dtype dtype) {
  return stored(kw_arg_scalar_f64(value), dtype);
}

static void rounds_small_floats_once_to_even(void **state) {
  (void)state;
  assert_int_equal(stored_f64(1.0, KW_F16), 0x3c00);
  assert_int_equal(stored_f64(-0.0, KW_F16), 0x8000);
  assert_int_equal(stored_f64(65504, KW_F16), 0x7bff);
  assert_int_equal(stored_f64(65519.99, KW_F16), 0x7bff);
  assert_int_equal(stored_f64(65520, KW_F16), 0x7c00);
  assert_int_equal(stored_f64(1e300, KW_F16), 0x7c00);
  assert_int_equal(stored_f64(ldexp(1, -24), KW_F16), 0x0001);
  assert_int_equal(stored_f64(ldexp(1, -25), KW_F16), 0x0000); /* tie, to even */
  assert_int_equal(stored_f64(ldexp(3, -25), KW_F16), 0x0002); /* tie, to even */
  assert_int_equal(stored_f64(1 + ldexp(1, -11), KW_F16), 0x3c00);
  assert_int_equal(stored_f64(1 + ldexp(3, -11), KW_F16), 0x3c02);
  assert_int_equal(stored_f64(1 + ldexp(1, -11) + ldexp(1, -40), KW_F16),
                   0x3c01); /* by way of f32 it would be 0x3c00 */
  assert_int_equal(stored_f64(1 + ldexp(1, -8), KW_BF16), 0x3f80);
  assert_int_equal(stored_f64(3.3895313892515355e38, KW_BF16), 0x7f7f);
  assert_int_equal(stored_f64(INFINITY, KW_BF16), 0x7f80);
  assert_int_equal(stored_f64(NAN, KW_F16) & 0x7e00, 0x7e00);
}

static void keeps_the_ends_of_f8(void **state) {
  (void)state;
  assert_int_equal(stored_f64(448, KW_F8E4M3FN), 0x7e);
  assert_int_equal(stored_f64(464, KW_F8E4M3FN), 0x7e); /* halfway to 480, to even */
  assert_int_equal(stored_f64(465, KW_F8E4M3FN), 0x7f);
  assert_int_equal(stored_f64(-INFINITY, KW_F8E4M3FN), 0xff);
  assert_int_equal(stored_f64(ldexp(1, -9), KW_F8E4M3FN), 0x01);
  assert_int_equal(stored_f64(57344, KW_F8E5M2), 0x7b);
  assert_int_equal(stored_f64(61440, KW_F8E5M2), 0x7c);
}

static void wraps_integers_and_saturates_floats(void **state) {
  (void)state;
  assert_int_equal(stored(kw_arg_scalar_i64(300), KW_U8), 44);
  assert_int_equal(stored_f64(300, KW_U8), 255);
  assert_int_equal(stored_f64(-3, KW_U8), 0);
  assert_int_equal(stored_f64(-1e9, KW_I8), 0x80);
  assert_int_equal(stored_f64(-2.9, KW_I32), 0xfffffffe);
  assert_int_equal(stored_f64(NAN, KW_I64), 0);
  assert_int_equal(stored_f64(1e30, KW_I64), INT64_MAX);
  assert_int_equal(stored(kw_arg_scalar_i64(INT64_MIN), KW_I64), (uint64_t)INT64_MIN);
  assert_int_equal(stored_f64(NAN, KW_BOOL), 1);
  assert_int_equal(stored(kw_arg_scalar_bool(true), KW_F32), 0x3f800000);
  /* 2^24 + 1 + 2^-30 in f32: from an i64 exactly, rounded once. */
  assert_int_equal(stored(kw_arg_scalar_i64((INT64_C(1) << 53) + 1), KW_F32), 0x5a000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_small_floats_once_to_even),
      cmocka_unit_test(keeps_the_ends_of_f8),
      cmocka_unit_test(wraps_integers_and_saturates_floats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

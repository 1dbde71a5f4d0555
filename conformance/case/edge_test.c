/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers at the ends of what dtypes and functions hold: enough of them, and where they should be.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "case/case.h"

/* Of the numbers beside the ends of ranges enough lie in the last stretch before an end: that of exp in f32 and f64, of
 * exp2 and of 10^x, and where the first of them becomes subnormal and 0. */
static void edges_are_dense(void **state) {
  (void)state;
  static const struct {
    kw_dtype dtype;
    double end, before;
  } ends[] = {{KW_F32, 88.7228391, 0.02},   {KW_F32, -87.3365447, 0.02}, {KW_F32, -103.972077, 0.02},
              {KW_F32, 128, 0.01},          {KW_F32, -149.9, 0.2},       {KW_F32, 38.5318394, 0.02},
              {KW_F64, 709.782712893, 0.1}, {KW_F64, -745.13, 0.1},      {KW_F16, 11.09, 0.1},
              {KW_BF16, 88.5, 1},           {KW_F32, 1, 0x1p-12},        {KW_F32, 0, 0x1p-126}};
  const kw_value_key key = {.seed = 4, .extent = 4099, .domain = KW_DOMAIN_EDGE};
  for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
    uint32_t near = 0;
    for (uint64_t i = 0; i < key.extent; i++) {
      _Alignas(8) char element[8];
      kw_value_make(&key, ends[e].dtype, i, element);
      const double x = kw_element_load(ends[e].dtype, element);
      assert_true(isfinite(x));
      near += fabs(x - ends[e].end) < ends[e].before;
    }
    if (near < 10) fail_msg("end %zu: %u numbers near it", e, near);
  }
}

static void below_normal_is_subnormal(void **state) {
  (void)state;
  const kw_value_key key = {.seed = 4, .extent = 4099, .domain = KW_DOMAIN_BELOW_NORMAL};
  for (kw_dtype dtype = 0; dtype < KW_KEY_DTYPE_COUNT; dtype++) {
    for (uint64_t i = 0; i < key.extent && kw_element_is_float(dtype); i++) {
      _Alignas(8) char element[8];
      kw_value_make(&key, dtype, i, element);
      assert_true(kw_element_is_subnormal(dtype, element));
    }
  }
}

/* Columns of 70: the first is all -inf, the second all inf, the third -inf but for its end, the last NaN; run 1 begins
 * with the second. */
static void ends_fill_rows(void **state) {
  (void)state;
  kw_value_key key = {.seed = 5, .domain = KW_DOMAIN_ENDS, .stride = KW_VALUE_END_ROWS, .limit = 70};
  for (uint64_t place = 0; place < 70; place++) {
    float x[KW_VALUE_END_ROWS], again;
    int32_t n;
    for (uint64_t row = 0; row < KW_VALUE_END_ROWS; row++) {
      kw_value_make(&key, KW_F32, place * KW_VALUE_END_ROWS + row, &x[row]);
    }
    kw_value_make(&key, KW_I32, place * KW_VALUE_END_ROWS, &n);
    key.run = 1;
    kw_value_make(&key, KW_F32, place * KW_VALUE_END_ROWS, &again);
    key.run = 0;
    assert_true(x[0] == -INFINITY && x[1] == INFINITY && again == INFINITY && n == INT32_MIN);
    assert_true(place == 69 ? fabsf(x[2]) == 1 : x[2] == -INFINITY);
    assert_true(place >= 53 ? fabsf(x[6]) == 1 : x[6] == -INFINITY);
    assert_true(isnan(x[KW_VALUE_END_ROWS - 1]));
  }
}

/* What is converted to a narrower float is subnormal there often enough, and past its largest number. */
static void conversions_meet_ends(void **state) {
  (void)state;
  const kw_value_key key = {.seed = 4, .extent = 209, .domain = KW_DOMAIN_CONVERT, .target = KW_F16};
  uint32_t below = 0, past = 0;
  for (uint64_t i = 0; i < key.extent; i++) {
    float x;
    kw_value_make(&key, KW_F32, i, &x);
    below += fabsf(x) > 0x1p-25f && fabsf(x) < 0x1p-14f;
    past += fabsf(x) == 65520;
  }
  assert_in_range(below, 10, 60);
  assert_in_range(past, 2, 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(edges_are_dense), cmocka_unit_test(below_normal_is_subnormal),
                                     cmocka_unit_test(conversions_meet_ends), cmocka_unit_test(ends_fill_rows)};
  return cmocka_run_group_tests_name("case edges", tests, NULL, NULL);
}

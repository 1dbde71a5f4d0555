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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(edges_are_dense), cmocka_unit_test(below_normal_is_subnormal)};
  return cmocka_run_group_tests_name("case edges", tests, NULL, NULL);
}

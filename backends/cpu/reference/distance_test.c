/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the distances between rows of tensors.
 */
#include "test_call.h"

#include <math.h>

static const float left[] = {0, 0, 3, 4, 1, -1}, right[] = {3, 4, 0, 0};
static float result[8];

static void expect(const double *wanted, size_t count, int line) {
  for (size_t i = 0; i < count; i++) {
    if (!(fabs(result[i] - wanted[i]) <= 1e-6))
      fail_msg("line %d: element %zu is %g, not %g", line, i, result[i], wanted[i]);
  }
}
#define EXPECT(...) expect((const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double), __LINE__)
#define P(number) ((kw_value){.tag = KW_TAG_FLOAT, .u.f = number})

static void test_cdist(void **state) {
  (void)state;
  kw_tensor_ref x1 = TENSOR(KW_F32, left, 3, 2), x2 = TENSOR(KW_F32, right, 2, 2), out = TENSOR(KW_F32, result, 3, 2);
  RUN(kw_reference_f32, "_cdist_forward", &out, test_arg(&x1), test_arg(&x2), P(2), test_none());
  EXPECT(5, 0, 0, 5, sqrt(29), sqrt(2));
  RUN(kw_reference_f32, "_cdist_forward", &out, test_arg(&x1), test_arg(&x2), P(1), test_none());
  EXPECT(7, 0, 0, 7, 7, 2);
  RUN(kw_reference_f32, "_cdist_forward", &out, test_arg(&x1), test_arg(&x2), P(0), test_none());
  EXPECT(2, 0, 0, 2, 2, 2);
  RUN(kw_reference_f32, "_cdist_forward", &out, test_arg(&x1), test_arg(&x2), P(INFINITY), test_none());
  EXPECT(4, 0, 0, 4, 5, 1);
  RUN(kw_reference_f32, "_cdist_forward", &out, test_arg(&x1), test_arg(&x2), P(3), test_none());
  EXPECT(cbrt(91), 0, 0, cbrt(91), cbrt(133), cbrt(2));
  /* the second matrix serves both of the first */
  kw_tensor_ref pair = TENSOR(KW_F32, left, 2, 1, 2), both = TENSOR(KW_F32, result, 2, 1, 2);
  RUN(kw_reference_f32, "_cdist_forward", &both, test_arg(&pair), test_arg(&x2), P(1), test_none());
  EXPECT(7, 0, 0, 7);
}

static void test_pdist(void **state) {
  (void)state;
  kw_tensor_ref self = TENSOR(KW_F32, left, 3, 2), out = TENSOR(KW_F32, result, 3);
  RUN(kw_reference_f32, "_pdist_forward", &out, test_arg(&self), P(2));
  EXPECT(5, sqrt(2), sqrt(29));
  RUN(kw_reference_f32, "_pdist_forward", &out, test_arg(&self), P(0.5));
  EXPECT(pow(sqrt(3) + 2, 2), 4, pow(sqrt(2) + sqrt(5), 2));
}

/* NaN wins for every p; of no elements all distances are 0. */
static void test_nan_and_nothing(void **state) {
  (void)state;
  const float odd[] = {1, NAN, 5, 2};
  const double norms[] = {0, 0.5, 1, 2, 3, INFINITY};
  kw_tensor_ref self = TENSOR(KW_F32, odd, 2, 2), out = TENSOR(KW_F32, result, 1), none = TENSOR(KW_F32, odd, 2, 0);
  for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++) {
    RUN(kw_reference_f32, "_pdist_forward", &out, test_arg(&self), P(norms[i]));
    assert_true(isnan(result[0]));
    RUN(kw_reference_f32, "_pdist_forward", &out, test_arg(&none), P(norms[i]));
    assert_true(result[0] == 0);
  }
  kw_tensor_ref half = TENSOR(KW_F16, odd, 2, 2);
  assert_int_equal(TRY(kw_reference_f32, "_pdist_forward", &out, test_arg(&half), P(2)), KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cdist),
      cmocka_unit_test(test_pdist),
      cmocka_unit_test(test_nan_and_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the Fourier transforms.
 */
#include "test_call.h"

#include <math.h>

static float result[64];

static void expect(const double *wanted, size_t count, int line) {
  for (size_t i = 0; i < count; i++) {
    if (!(fabs(result[i] - wanted[i]) <= 1e-5))
      fail_msg("line %d: number %zu is %g, not %g", line, i, result[i], wanted[i]);
  }
}
#define EXPECT(...) expect((const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double), __LINE__)
#define INT(number) ((kw_value){.tag = KW_TAG_INT, .u.i = number})
#define FLAG(flag) ((kw_value){.tag = KW_TAG_BOOL, .u.b = flag})
#define DIMS(...)                                                          \
  ((kw_value){.tag = KW_TAG_INT_LIST,                                      \
              .count = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
              .u.ints = (const int64_t[]){__VA_ARGS__}})

static void test_r2c(void **state) {
  (void)state;
  const float x[] = {1, 2, 3, 4};
  kw_tensor_ref self = TENSOR(KW_F32, x, 4), half = TENSOR(KW_C64, result, 3), whole = TENSOR(KW_C64, result, 4);
  RUN(kw_reference_f32, "_fft_r2c", &half, test_arg(&self), DIMS(0), INT(0), FLAG(true));
  EXPECT(10, 0, -2, 2, -2, 0);
  RUN(kw_reference_f32, "_fft_r2c", &whole, test_arg(&self), DIMS(-1), INT(1), FLAG(false));
  EXPECT(5, 0, -1, 1, -1, 0, -1, -1);
  self = TENSOR(KW_F32, x, 2, 2), whole = TENSOR(KW_C64, result, 2, 2);
  RUN(kw_reference_f32, "_fft_r2c", &whole, test_arg(&self), DIMS(0, 1), INT(2), FLAG(false));
  EXPECT(2.5, 0, -0.5, 0, -1, 0, 0, 0);
}

static void test_c2c(void **state) {
  (void)state;
  const float x[] = {1, 0, 0, 1, 2, -1}; /* 1, i, 2 - i */
  const double c = sqrt(3) / 2;
  kw_tensor_ref self = TENSOR(KW_C64, x, 3), out = TENSOR(KW_C64, result, 3);
  RUN(kw_reference_f32, "_fft_c2c", &out, test_arg(&self), DIMS(0), INT(0), FLAG(true));
  /* 3; 1 + i w + (2 - i) w^2 with w = -1/2 - c i */
  EXPECT(3, 0, 2 * c, 2 * c, -2 * c, -2 * c);
  RUN(kw_reference_f32, "_fft_c2c", &out, test_arg(&self), DIMS(0), INT(0), FLAG(false));
  EXPECT(3, 0, -2 * c, -2 * c, 2 * c, 2 * c);
}

/* There and back, for composite and prime lengths, in every table. */
static void test_there_and_back(void **state) {
  (void)state;
  static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};
  static const int64_t lengths[] = {1, 2, 6, 7, 12, 30};
  for (size_t k = 0; k < 18; k++) {
    const int64_t n = lengths[k / 3];
    float x[30], spectrum[32];
    double wanted[30];
    for (int64_t i = 0; i < n; i++) wanted[i] = x[i] = (float)((i * i * 7 + 3) % 11);
    kw_tensor_ref self = TENSOR(KW_F32, x, n), half = TENSOR(KW_C64, spectrum, n / 2 + 1);
    kw_tensor_ref back = TENSOR(KW_F32, result, n);
    RUN(tables[k % 3], "_fft_r2c", &half, test_arg(&self), DIMS(0), INT(0), FLAG(true));
    spectrum[1] = 1000; /* is not read */
    RUN(tables[k % 3], "_fft_c2r", &back, test_arg(&half), DIMS(0), INT(2), INT(n));
    expect(wanted, (size_t)n, __LINE__);
  }
}

/* The sum of what is transformed together, times 8 + 6 log2(n). */
static void test_magnitude(void **state) {
  (void)state;
  const float x[] = {1, -2, 3, -4};
  kw_tensor_ref self = TENSOR(KW_F32, x, 4), half = TENSOR(KW_C64, result, 3);
  RUN(kw_reference_f64, "_fft_r2c/magnitude", &half, test_arg(&self), DIMS(0), INT(0), FLAG(true));
  EXPECT(200, 200, 200, 200, 200, 200);
  kw_tensor_ref two = TENSOR(KW_C64, x, 2), real = TENSOR(KW_F32, result, 2);
  RUN(kw_reference_f64, "_fft_c2r/magnitude", &real, test_arg(&two), DIMS(0), INT(0), INT(2));
  EXPECT(140, 140);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_r2c),
      cmocka_unit_test(test_c2c),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_magnitude),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

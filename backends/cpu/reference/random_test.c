/* SPDX-License-Identifier: Apache-2.0
 *
 * Random ops: which words make which values, and whether those look like what they claim to be. All states are fixed,
 * so that every figure here is the same each time.
 */
#include "test_call.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};
static const kw_words words = {KW_GENERATOR_PHILOX4X32_10, UINT64_C(0x5eedf00d12345678),
                               (UINT64_C(1) << 32) - 3}; /* blocks carry */

static kw_value float_arg(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static kw_value int_arg(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static void run(test_table table, const char *op, const kw_tensor_ref *out, uint32_t count, const kw_value *args) {
  kw_call call = {.struct_size = sizeof call, .arg_count = count, .out_count = 1, .op = op, .args = args, .outs = &out};
  const kw_call_extra extra = {.struct_size = sizeof extra, .rng = {.seed = words.seed, .offset = words.offset}};
  call.extra = &extra;
  assert_int_equal(test_call(table, &call), KW_OK);
}

/* In place on `out`, with two numbers. */
static void fill(test_table table, const char *op, const kw_tensor_ref *out, kw_value x0, kw_value x1) {
  kw_value args[4] = {test_arg(out), x0, x1, test_none()};
  run(table, op, out, 4, args);
}

/* ---- Bits -------------------------------------------------------------------------------------------------------- */

static void test_uniform(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t t = 0; t < 3; t++) {
    for (size_t d = 0; d < (t == 0 ? 3 : 4); d++) {
      unsigned char data[23 * 8];
      kw_tensor_ref out = TENSOR(dtypes[d], data, 23);
      fill(tables[t], "uniform_", &out, float_arg(0), float_arg(1));
      for (uint64_t i = 0; i < 23; i++) {
        double word = kw_words_32(&words, i, 0), expected = floor(word * 0x1p-8) * 0x1p-24;
        if (dtypes[d] == KW_F16) expected = floor(word * 0x1p-21) * 0x1p-11;
        if (dtypes[d] == KW_BF16) expected = floor(word * 0x1p-24) * 0x1p-8;
        if (dtypes[d] == KW_F64) expected = (double)(kw_words_64(&words, i) >> 11) * 0x1p-53;
        assert_true(kw_number_load(dtypes[d], data + i * kw_number_size(dtypes[d])) == expected);
      }
      unsigned char made[23 * 8];
      kw_tensor_ref rand = TENSOR(dtypes[d], made, 23);
      kw_value dtype = {.tag = KW_TAG_DTYPE, .u.dtype = dtypes[d]};
      run(tables[t], "rand", &rand, 3, (const kw_value[]){test_none(), dtype, test_none()});
      assert_memory_equal(made, data, 23 * kw_number_size(dtypes[d]));
      fill(tables[t], "uniform_", &out, float_arg(-3), float_arg(5));
      for (uint64_t i = 0; i < 23; i++) {
        double u = kw_number_load(dtypes[d], made + i * kw_number_size(dtypes[d]));
        double got = kw_number_load(dtypes[d], data + i * kw_number_size(dtypes[d]));
        assert_true(fabs(got - (8 * u - 3)) <= 0.02 && got >= -3 && got <= 5);
      }
    }
  }
}

/* The numbers are counted row-major, wherever they lie. */
static void test_strides_do_not_matter(void **state) {
  (void)state;
  float dense[35] = {0}, strided[70] = {0};
  kw_tensor_ref a = TENSOR(KW_F32, dense, 5, 7), b = TENSOR(KW_F32, strided, 5, 7);
  b.strides[0] = 2;
  b.strides[1] = 10;
  fill(kw_reference_f32, "normal_", &a, float_arg(0), float_arg(1));
  fill(kw_reference_f32, "normal_", &b, float_arg(0), float_arg(1));
  for (size_t i = 0; i < 35; i++) assert_true(dense[i] == strided[i / 7 * 2 + i % 7 * 10]);
}

static void test_normal(void **state) {
  (void)state;
  for (size_t d = 0; d < 2; d++) {
    kw_dtype dtype = d == 0 ? KW_F32 : KW_F64;
    kw_wide z[9];
    kw_tensor_ref out = TENSOR(KW_DTYPE_WIDE, z, 9), self = TENSOR(dtype, z, 9);
    kw_value args[4] = {test_arg(&self), float_arg(10), float_arg(2), test_none()};
    run(kw_reference_f128, "normal_", &out, 4, args);
    for (uint64_t i = 0; i < 9; i++) {
      double first = floor(kw_words_32(&words, i & ~UINT64_C(1), 0) * 0x1p-8) * 0x1p-24 + 0x1p-24;
      double second = floor(kw_words_32(&words, i | 1, 0) * 0x1p-8) * 0x1p-24;
      if (d == 1) first = (double)(kw_words_64(&words, i & ~UINT64_C(1)) >> 11) * 0x1p-53 + 0x1p-53;
      if (d == 1) second = (double)(kw_words_64(&words, i | 1) >> 11) * 0x1p-53;
      double angle = 6.283185307179586 * second, radius = sqrt(-2 * log(first));
      assert_true(fabs(z[i].hi - (10 + 2 * radius * (i & 1 ? sin(angle) : cos(angle)))) <= 1e-14);
    }
  }
}

static void test_bernoulli(void **state) {
  (void)state;
  float u[19] = {0}, p[19] = {0}, out[19] = {0};
  double wide_u[19] = {0}, wide_p[19] = {0}, wide_out[19] = {0};
  int8_t bits[19] = {0};
  kw_tensor_ref numbers = TENSOR(KW_F32, u, 19), chances = TENSOR(KW_F32, p, 19), result = TENSOR(KW_F32, out, 19);
  kw_tensor_ref wide_numbers = TENSOR(KW_F64, wide_u, 19), wide_chances = TENSOR(KW_F64, wide_p, 19);
  kw_tensor_ref wide_result = TENSOR(KW_F64, wide_out, 19), flags = TENSOR(KW_I8, bits, 19);
  fill(kw_reference_f32, "uniform_", &numbers, float_arg(0), float_arg(1));
  fill(kw_reference_f64, "uniform_", &wide_numbers, float_arg(0), float_arg(1));
  for (size_t i = 0; i < 19; i++) { /* u < p is false at u itself, and true right above */
    p[i] = i % 2 ? u[i] : nextafterf(u[i], 1);
    wide_p[i] = i % 2 ? wide_u[i] : nextafter(wide_u[i], 1);
  }
  for (size_t t = 0; t < 3; t++) {
    run(tables[t], "bernoulli", &result, 2, (const kw_value[]){test_arg(&chances), test_none()});
    for (size_t i = 0; i < 19; i++) assert_true(out[i] == (i % 2 == 0));
    if (t > 0) run(tables[t], "bernoulli", &wide_result, 2, (const kw_value[]){test_arg(&wide_chances), test_none()});
    for (size_t i = 0; t > 0 && i < 19; i++) assert_true(wide_out[i] == (i % 2 == 0));
    for (size_t i = 0; i < 19; i++) { /* p is an f32 for every dtype: its neighbour in f64 is the same */
      fill(tables[t], "bernoulli_.float", &flags, float_arg(nextafter(u[i], 1)), test_none());
      for (size_t k = 0; k < 19; k++) assert_int_equal(bits[k], u[k] < u[i]);
    }
    fill(tables[t], "bernoulli_.float", &flags, float_arg(0), test_none());
    for (size_t k = 0; k < 19; k++) assert_int_equal(bits[k], 0);
    fill(tables[t], "bernoulli_.float", &flags, float_arg(1), test_none());
    for (size_t k = 0; k < 19; k++) assert_int_equal(bits[k], 1);
  }
}

static void test_integers(void **state) {
  (void)state;
  static const struct {
    kw_dtype dtype;
    int64_t from;
    bool open;
    int64_t to;
    uint64_t range;
  } rows[] = {
      {KW_I64, -5, false, 5, 10},
      {KW_I64, 7, false, 8, 1},
      {KW_I64, -4, false, (INT64_C(1) << 32) - 4, UINT64_C(1) << 32},
      {KW_I64, -4, false, (INT64_C(1) << 32) - 3, (UINT64_C(1) << 32) + 1},
      {KW_I64, INT64_MIN, false, INT64_MAX, UINT64_MAX},
      {KW_I64, INT64_MIN, true, 0, 0},
      {KW_I64, 1, true, 0, INT64_MAX},
      {KW_I32, 0, true, 0, UINT64_C(1) << 31},
      {KW_I32, INT32_MIN, true, 0, UINT64_C(1) << 32},
      {KW_I16, 0, true, 0, 32768},
      {KW_I8, -128, true, 0, 256},
      {KW_U8, 250, true, 0, 6},
      {KW_BOOL, 0, true, 0, 2},
      {KW_F16, -2048, true, 0, 4097},
      {KW_BF16, 0, true, 0, 257},
      {KW_F32, 5, true, 0, (UINT64_C(1) << 24) - 4},
      {KW_F64, -(INT64_C(1) << 53), true, 0, (UINT64_C(1) << 54) + 1},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    unsigned char data[11 * 8];
    kw_tensor_ref out = TENSOR(rows[r].dtype, data, 11);
    fill(kw_reference_f32, "random_.from", &out, int_arg(rows[r].from),
         rows[r].open ? test_none() : int_arg(rows[r].to));
    for (uint64_t i = 0; i < 11; i++) {
      uint64_t range = rows[r].range, word = kw_words_64(&words, i);
      if (range > 0 && range <= UINT64_C(1) << 32) word >>= 32;
      int64_t expected = (int64_t)((uint64_t)rows[r].from + (range > 0 ? word % range : word));
      const unsigned char *at = data + i * kw_number_size(rows[r].dtype);
      if (kw_number_is_float(rows[r].dtype)) {
        assert_true(kw_number_load(rows[r].dtype, at) == (double)expected);
      } else {
        assert_true(kw_number_load_int(rows[r].dtype, at) == expected);
      }
    }
  }
  int64_t in_place[11] = {0}, low[11] = {0}, plain[11] = {0};
  kw_tensor_ref a = TENSOR(KW_I64, in_place, 11), b = TENSOR(KW_I64, low, 11), c = TENSOR(KW_I64, plain, 11);
  fill(kw_reference_f32, "random_.from", &a, int_arg(0), int_arg(1000));
  kw_value none = test_none();
  run(kw_reference_f32, "randint.low", &b, 5, (const kw_value[]){int_arg(0), int_arg(1000), none, none, none});
  run(kw_reference_f32, "randint", &c, 4, (const kw_value[]){int_arg(1000), none, none, none});
  assert_memory_equal(low, in_place, sizeof low);
  assert_memory_equal(plain, in_place, sizeof plain);
}

/* ---- Distributions ----------------------------------------------------------------------------------------------- */

#define MANY 40000

/* Pearson's statistic of counts that should be equal. */
static double chi_square(const uint32_t *counts, uint32_t cells) {
  double expected = (double)MANY / cells, sum = 0;
  for (uint32_t i = 0; i < cells; i++) sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  return sum;
}

static float *draw(const char *op, kw_value x0, kw_value x1) {
  float *values = malloc(MANY * sizeof *values);
  assert_non_null(values);
  kw_tensor_ref out = TENSOR(KW_F32, values, MANY);
  fill(kw_reference_f32, op, &out, x0, x1);
  return values;
}

static void mean_and_variance(const float *values, double *out_mean, double *out_variance) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < MANY; i++) sum += values[i];
  *out_mean = sum / MANY;
  for (size_t i = 0; i < MANY; i++) squares += (values[i] - *out_mean) * (values[i] - *out_mean);
  *out_variance = squares / MANY;
}

/* Four standard deviations of each figure. */
static void test_distributions(void **state) {
  (void)state;
  double mean, variance;
  uint32_t counts[100] = {0}, pairs[100] = {0}, ahead = 0;
  float *u = draw("uniform_", float_arg(0), float_arg(1));
  mean_and_variance(u, &mean, &variance);
  assert_true(fabs(mean - 0.5) < 4 * sqrt(1.0 / 12 / MANY) && fabs(variance - 1.0 / 12) < 4 * sqrt(1.0 / 180 / MANY));
  for (size_t i = 0; i < MANY; i++) counts[(size_t)(u[i] * 100)]++;
  for (size_t i = 0; i < MANY; i++) pairs[(size_t)(u[i] * 10) * 10 + (size_t)(u[(i + 1) % MANY] * 10)]++;
  assert_true(chi_square(counts, 100) < 99 + 4 * sqrt(198));
  assert_true(chi_square(pairs, 100) < 99 + 4 * sqrt(198)); /* neighbours do not depend on each other */
  free(u);

  float *z = draw("normal_", float_arg(3), float_arg(2));
  mean_and_variance(z, &mean, &variance);
  assert_true(fabs(mean - 3) < 4 * 2 / sqrt(MANY) && fabs(variance - 4) < 4 * 4 * sqrt(2.0 / MANY));
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MANY; i++) { /* its distribution function makes it uniform */
    double x = ((double)z[i] - 3) / 2, share = 0.5 * erfc(-x * sqrt(0.5));
    counts[(size_t)(share * 100) < 100 ? (size_t)(share * 100) : 99]++;
    ahead += i % 2 == 0 && z[i] < z[i + 1];
  }
  assert_true(chi_square(counts, 100) < 99 + 4 * sqrt(198));
  assert_true(fabs(ahead - MANY / 4.0) < 4 * sqrt(MANY / 8.0));
  free(z);

  float *hits = draw("bernoulli_.float", float_arg(0.3), test_none());
  mean_and_variance(hits, &mean, &variance);
  assert_true(fabs(mean - 0.3) < 4 * sqrt(0.21 / MANY));
  free(hits);

  float *dice = draw("random_.from", int_arg(0), int_arg(100));
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MANY; i++) counts[(size_t)dice[i]]++;
  assert_true(chi_square(counts, 100) < 99 + 4 * sqrt(198));
  free(dice);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uniform),  cmocka_unit_test(test_strides_do_not_matter),
      cmocka_unit_test(test_normal),   cmocka_unit_test(test_bernoulli),
      cmocka_unit_test(test_integers), cmocka_unit_test(test_distributions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

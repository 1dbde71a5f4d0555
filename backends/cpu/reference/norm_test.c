/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax and the normalisations. Expected numbers were computed with a multiple-precision library.
 */
#include "test_call.h"

#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static kw_value dim_arg(int64_t dim) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = dim};
}

static kw_value bool_arg(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

static kw_value float_arg(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static kw_value list_arg(const int64_t *ints, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = ints};
}

static void assert_near(const double *got, const double *expected, size_t count, double bound) {
  for (size_t i = 0; i < count; i++) {
    if (isnan(expected[i])) assert_true(isnan(got[i]));
    if (isinf(expected[i])) assert_true(got[i] == expected[i]);
    if (isfinite(expected[i]) && !(fabs(got[i] - expected[i]) <= bound * fabs(expected[i]))) {
      fail_msg("element %zu is %.17g, not %.17g", i, got[i], expected[i]);
    }
  }
}

/* ---- Softmax ----------------------------------------------------------------------------------------------------- */

static void softmax_values(test_table table, const char *op, kw_dtype dtype, const void *x, int64_t n, double *out) {
  kw_wide wide[8];
  kw_tensor_ref in = TENSOR(dtype, x, n), result = TENSOR(KW_DTYPE_WIDE, wide, n);
  RUN(table, op, &result, test_arg(&in), dim_arg(0), bool_arg(false));
  for (int64_t i = 0; i < n; i++) out[i] = wide[i].hi;
}

static void test_softmax(void **state) {
  (void)state;
  const double x[3] = {1, -2.5, 0.75}, shifted[3] = {1001, 997.5, 1000.75};
  const double expected[3] = {0.5527921578484749, 0.016692876743401208, 0.4305149654081239};
  const double logs[3] = {-0.59277319286578063, -4.0927731928657806, -0.84277319286578063};
  double got[3];
  for (size_t t = 0; t < 3; t++) {
    double bound = t == 0 ? 4e-7 : 4e-16;
    softmax_values(tables[t], "_softmax", KW_F64, x, 3, got);
    assert_near(got, expected, 3, bound);
    softmax_values(tables[t], "_softmax", KW_F64, shifted, 3, got); /* exp(1001) is out of every range but f128's */
    assert_near(got, expected, 3, bound);
    softmax_values(tables[t], "_log_softmax", KW_F64, shifted, 3, got);
    assert_near(got, logs, 3, bound);
  }
}

static void test_softmax_special_rows(void **state) {
  (void)state;
  const double inf = INFINITY;
  const struct {
    double x[3], softmax[3], logs[3];
  } rows[] = {
      {{0, NAN, 1}, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
      {{0, inf, -inf}, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
      {{-inf, -inf, -inf}, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
      {{-inf, 3, -inf}, {0, 1, 0}, {-inf, 0, -inf}},
      {{2, 2, -inf}, {0.5, 0.5, 0}, {-0.69314718055994531, -0.69314718055994531, -inf}},
      {{-1e300, 1e300, 0}, {0, 1, 0}, {-2e300, 0, -1e300}},
  };
  double got[3];
  for (size_t t = 1; t < 3; t++) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      softmax_values(tables[t], "_softmax", KW_F64, rows[i].x, 3, got);
      assert_near(got, rows[i].softmax, 3, 1e-15);
      softmax_values(tables[t], "_log_softmax", KW_F64, rows[i].x, 3, got);
      assert_near(got, rows[i].logs, 3, 1e-15);
    }
  }
}

/* Rows along the first dimension, of a transposed input, into a result with gaps. */
static void test_softmax_strides(void **state) {
  (void)state;
  float x[6] = {0, 1, 2, 0, 0, 0}, out[12];
  for (size_t i = 0; i < 12; i++) out[i] = -1;
  kw_tensor_ref in = TENSOR(KW_F32, x, 3, 2), result = TENSOR(KW_F32, out, 3, 2);
  in.strides[0] = 1;
  in.strides[1] = 3;
  result.strides[0] = 4;
  result.strides[1] = 2;
  RUN(kw_reference_f32, "_softmax", &result, test_arg(&in), dim_arg(-2), bool_arg(false));
  const double expected[6] = {0.090030573170380458, 1.0 / 3, 0.24472847105479765, 1.0 / 3,
                              0.66524095577482189,  1.0 / 3};
  for (size_t i = 0; i < 12; i++) {
    double wanted = i % 2 == 0 ? expected[i / 2] : -1;
    assert_true(fabs(out[i] - wanted) <= 2e-7);
  }
  float one = 7;
  kw_tensor_ref scalar = RANK0(KW_F32, &one);
  RUN(kw_reference_f32, "_softmax", &scalar, test_arg(&scalar), dim_arg(0), bool_arg(false));
  assert_true(one == 1);
}

static void test_half_to_float(void **state) {
  (void)state;
  const uint16_t half[2] = {0x3c00, 0xbc00}; /* 1 and -1 */
  float out[2];
  kw_tensor_ref in = TENSOR(KW_F16, half, 2), result = TENSOR(KW_F32, out, 2);
  RUN(kw_reference_f32, "_softmax", &result, test_arg(&in), dim_arg(0), bool_arg(true));
  assert_near((double[]){out[0], out[1]}, (double[]){0.88079707797788244, 0.11920292202211756}, 2, 2e-7);
  int32_t ints[2] = {1, 2};
  kw_tensor_ref refused = TENSOR(KW_I32, ints, 2);
  assert_int_equal(TRY(kw_reference_f32, "_softmax", &result, test_arg(&refused), dim_arg(0), bool_arg(false)),
                   KW_ERR_INVALID_ARGUMENT);
}

/* ---- Normalisation ----------------------------------------------------------------------------------------------- */

static kw_status layer_norm(test_table table, const char *op, const kw_tensor_ref *outs, const kw_value *args) {
  const kw_tensor_ref *pointers[] = {&outs[0], &outs[1], &outs[2]};
  kw_call call = {.struct_size = sizeof call, .arg_count = 5, .out_count = 3, .op = op, .args = args, .outs = pointers};
  return test_call(table, &call);
}

static void test_layer_norm(void **state) {
  (void)state;
  const double x[8] = {1, -2.5, 0.75, 3, 10000, 10001, 9999, 10000.5}, w[4] = {1, 2, -1, 0.5}, b[4] = {0, 1, 0.5, -1};
  const double plain[4] = {-0.16903085094570332, 1.1832159566199232, -1.5212776585113298, 0.50709255283710995};
  const double scaled[4] = {0.21510477935205073, -2.0114669109287102, 0.40781223742054969, -0.40077954323357298};
  const int64_t shape[1] = {4};
  double out[8], mean[2], rstd[2];
  kw_tensor_ref in = TENSOR(KW_F64, x, 2, 4), weight = TENSOR(KW_F64, w, 4), bias = TENSOR(KW_F64, b, 4);
  const kw_tensor_ref outs[3] = {TENSOR(KW_F64, out, 2, 4), TENSOR(KW_F64, mean, 2, 1), TENSOR(KW_F64, rstd, 2, 1)};
  kw_value args[5] = {test_arg(&in), list_arg(shape, 1), test_arg(&weight), test_arg(&bias), float_arg(0.25)};
  for (size_t t = 0; t < 3; t++) {
    args[2] = test_arg(&weight);
    args[3] = test_arg(&bias);
    args[4] = float_arg(0.25);
    assert_int_equal(layer_norm(tables[t], "native_layer_norm", outs, args), KW_OK);
    assert_near(out, scaled, 4, t == 0 ? 1e-6 : 1e-15);
    assert_near(mean, (double[]){0.5625, 10000.125}, 2, t == 0 ? 1e-7 : 0);
    assert_near(rstd, (double[]){0.49166806709040166}, 1, t == 0 ? 1e-6 : 1e-15);
    args[2] = args[3] = test_none();
    args[4] = float_arg(0);
    assert_int_equal(layer_norm(tables[t], "native_layer_norm", outs, args), KW_OK);
    assert_near(out + 4, plain, 4, t == 0 ? 1e-3 : 1e-11);
    assert_near(rstd + 1, (double[]){1.3522468075656265}, 1, t == 0 ? 1e-3 : 1e-11);
  }
}

/* Mean and rstd are of the compute type, weight and bias of their own dtypes; several dimensions at once. */
static void test_layer_norm_dtypes(void **state) {
  (void)state;
  const uint16_t x[4] = {0x3c00, 0x4000, 0x4200, 0x4400}; /* 1 2 3 4 */
  const float w[4] = {2, 2, 2, 2};
  const int64_t shape[2] = {2, 2};
  float out[4], mean = 0, rstd = 0;
  kw_tensor_ref in = TENSOR(KW_F16, x, 2, 2), weight = TENSOR(KW_F32, w, 2, 2);
  const kw_tensor_ref outs[3] = {TENSOR(KW_F32, out, 2, 2), TENSOR(KW_F32, &mean, 1, 1), TENSOR(KW_F32, &rstd, 1, 1)};
  kw_value args[5] = {test_arg(&in), list_arg(shape, 2), test_arg(&weight), test_none(), float_arg(0)};
  assert_int_equal(layer_norm(kw_reference_f32, "native_layer_norm", outs, args), KW_OK);
  const double unit = 0.89442719099991588;
  assert_near((double[]){out[0], out[1], out[2], out[3], mean, rstd},
              (double[]){-3 * unit, -unit, unit, 3 * unit, 2.5, unit}, 6, 3e-7);
}

static void test_layer_norm_of_nothing(void **state) {
  (void)state;
  const int64_t shape[1] = {0};
  float mean[2] = {7, 7}, rstd[2] = {7, 7};
  kw_tensor_ref in = TENSOR(KW_F32, NULL, 2, 0);
  const kw_tensor_ref outs[3] = {TENSOR(KW_F32, NULL, 2, 0), TENSOR(KW_F32, mean, 2, 1), TENSOR(KW_F32, rstd, 2, 1)};
  kw_value args[5] = {test_arg(&in), list_arg(shape, 1), test_none(), test_none(), float_arg(1e-5)};
  assert_int_equal(layer_norm(kw_reference_f32, "native_layer_norm", outs, args), KW_OK);
  for (size_t i = 0; i < 2; i++) assert_true(mean[i] == 0 && isnan(rstd[i]));
}

static void test_rms_norm(void **state) {
  (void)state;
  const double x[4] = {1, -2.5, 0.75, 3}, w[4] = {1, 2, -1, 0.5}, small[2] = {0x1p-20, 0x1p-20};
  const double expected[4] = {0.47387910220727389, -2.3693955110363694, -0.35540932665545541, 0.71081865331091083};
  const int64_t shape[1] = {4}, pair[1] = {2};
  double out[4];
  kw_tensor_ref in = TENSOR(KW_F64, x, 4), weight = TENSOR(KW_F64, w, 4), result = TENSOR(KW_F64, out, 4);
  kw_tensor_ref two = TENSOR(KW_F64, small, 2), out_two = TENSOR(KW_F64, out, 2);
  for (size_t t = 0; t < 3; t++) {
    double bound = t == 0 ? 4e-7 : 4e-16;
    RUN(tables[t], "rms_norm", &result, test_arg(&in), list_arg(shape, 1), test_arg(&weight), float_arg(0.25));
    assert_near(out, expected, 4, bound);
    RUN(tables[t], "rms_norm", &out_two, test_arg(&two), list_arg(pair, 1), test_none(), test_none());
    assert_near(out, (double[]){0.99987795203469529, 0.99987795203469529}, 2, bound);
  }
  const float small_f32[2] = {0x1p-20f, 0x1p-20f};
  float out_f32[2];
  kw_tensor_ref f32 = TENSOR(KW_F32, small_f32, 2), result_f32 = TENSOR(KW_F32, out_f32, 2);
  for (size_t t = 0; t < 3; t++) { /* eps follows the dtype, not what computes here */
    RUN(tables[t], "rms_norm", &result_f32, test_arg(&f32), list_arg(pair, 1), test_none(), test_none());
    assert_near((double[]){out_f32[0], out_f32[1]}, (double[]){0.0027621253273581147, 0.0027621253273581147}, 2, 4e-7);
  }
}

/* ---- Channels and groups ----------------------------------------------------------------------------------------- */

static kw_status run_three(test_table table, const char *op, const kw_tensor_ref *outs, uint32_t count,
                           const kw_value *args, uint32_t arg_count) {
  const kw_tensor_ref *pointers[] = {&outs[0], &outs[1], &outs[2]};
  kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .out_count = count, .op = op, .args = args};
  call.outs = pointers;
  return test_call(table, &call);
}

/* Channel 0 is 1, 3 and channel 1 is 2, 6. */
static void test_batch_norm(void **state) {
  (void)state;
  const double x[4] = {1, 2, 3, 6}, w[2] = {2, 3}, b[2] = {1, -1}, m[2] = {1, 2}, v[2] = {4, 1};
  double out[4], mean[2], rstd[2];
  kw_tensor_ref in = TENSOR(KW_F64, x, 2, 2), weight = TENSOR(KW_F64, w, 2), bias = TENSOR(KW_F64, b, 2);
  kw_tensor_ref given_mean = TENSOR(KW_F64, m, 2), variance = TENSOR(KW_F64, v, 2);
  const kw_tensor_ref outs[3] = {TENSOR(KW_F64, out, 2, 2), TENSOR(KW_F64, mean, 2), TENSOR(KW_F64, rstd, 2)};
  const kw_tensor_ref alone[3] = {outs[0], TENSOR(KW_F64, NULL, 0), TENSOR(KW_F64, NULL, 0)};
  const kw_value own[6] = {test_arg(&in),  test_arg(&weight), test_arg(&bias),
                           bool_arg(true), float_arg(0.1),    float_arg(0)};
  const kw_value given[7] = {test_arg(&in),       test_none(),    test_none(), test_arg(&given_mean),
                             test_arg(&variance), float_arg(0.1), float_arg(0)};
  for (size_t t = 0; t < 3; t++) {
    assert_int_equal(run_three(tables[t], "_native_batch_norm_legit.no_stats", outs, 3, own, 6), KW_OK);
    assert_near(out, (double[]){-1, -4, 3, 2}, 4, 0);
    assert_near(mean, (double[]){2, 4}, 2, 0);
    assert_near(rstd, (double[]){1, 0.5}, 2, 0);
    assert_int_equal(run_three(tables[t], "_native_batch_norm_legit_no_training", alone, 3, given, 7), KW_OK);
    assert_near(out, (double[]){0, 0, 1, 4}, 4, 0);
  }
}

/* The same channels; running statistics move by a quarter, the variance by the unbiased one. */
static void test_running_statistics(void **state) {
  (void)state;
  const double x[4] = {1, 2, 3, 6};
  kw_tensor_ref in = TENSOR(KW_F64, x, 2, 2);
  for (size_t t = 0; t < 3; t++) {
    double out[4], mean[2], rstd[2], running_mean[2] = {2, 0}, running_var[2] = {1, 4};
    kw_tensor_ref m = TENSOR(KW_F64, running_mean, 2), v = TENSOR(KW_F64, running_var, 2);
    const kw_tensor_ref outs[3] = {TENSOR(KW_F64, out, 2, 2), TENSOR(KW_F64, mean, 2), TENSOR(KW_F64, rstd, 2)};
    const kw_tensor_ref *results[] = {&outs[0], &outs[1], &outs[2], &m, &v};
    kw_value args[8] = {test_arg(&in), test_none(),    test_none(),     test_arg(&m),
                        test_arg(&v),  bool_arg(true), float_arg(0.25), float_arg(0)};
    const kw_call call = {.struct_size = sizeof call,
                          .arg_count = 8,
                          .out_count = 5,
                          .op = "_native_batch_norm_legit",
                          .args = args,
                          .outs = results};
    assert_int_equal(test_call(tables[t], &call), KW_OK);
    assert_near(out, (double[]){-1, -1, 1, 1}, 4, 0);
    assert_near(running_mean, (double[]){2, 1}, 2, 0);
    assert_near(running_var, (double[]){1.25, 5}, 2, 0);
    args[5] = bool_arg(false);
    running_mean[0] = 1;
    running_var[0] = 4;
    running_mean[1] = 2;
    running_var[1] = 1;
    assert_int_equal(test_call(tables[t], &call), KW_OK);
    assert_near(out, (double[]){0, 0, 1, 4}, 4, 0);
    assert_true(running_mean[0] == 1 && running_var[1] == 1);
  }
}

/* Two groups of two channels, each with a weight of its own. */
static void test_group_norm(void **state) {
  (void)state;
  const double x[4] = {1, 3, 2, 6}, w[4] = {1, 2, 3, 4};
  double out[4], mean[2], rstd[2];
  kw_tensor_ref in = TENSOR(KW_F64, x, 1, 4, 1), weight = TENSOR(KW_F64, w, 4);
  const kw_tensor_ref outs[3] = {TENSOR(KW_F64, out, 1, 4, 1), TENSOR(KW_F64, mean, 1, 2), TENSOR(KW_F64, rstd, 1, 2)};
  const kw_value args[8] = {test_arg(&in), test_arg(&weight), test_none(), dim_arg(1),
                            dim_arg(4),    dim_arg(1),        dim_arg(2),  float_arg(0)};
  for (size_t t = 0; t < 3; t++) {
    assert_int_equal(run_three(tables[t], "native_group_norm", outs, 3, args, 8), KW_OK);
    assert_near(out, (double[]){-1, 2, -3, 4}, 4, 0);
    assert_near(mean, (double[]){2, 4}, 2, 0);
    assert_near(rstd, (double[]){1, 0.5}, 2, 0);
  }
}

static void test_fused_rms_norm(void **state) {
  (void)state;
  const double x[4] = {2, -2, 4, 4}, w[2] = {1, 3};
  const int64_t shape[1] = {2};
  double out[4], rstd[2];
  kw_tensor_ref in = TENSOR(KW_F64, x, 2, 2), weight = TENSOR(KW_F64, w, 2);
  const kw_tensor_ref outs[3] = {TENSOR(KW_F64, out, 2, 2), TENSOR(KW_F64, rstd, 2, 1)};
  const kw_value args[4] = {test_arg(&in), list_arg(shape, 1), test_arg(&weight), float_arg(0)};
  for (size_t t = 0; t < 3; t++) {
    assert_int_equal(run_three(tables[t], "_fused_rms_norm", outs, 2, args, 4), KW_OK);
    assert_near(out, (double[]){1, -3, 1, 3}, 4, 0);
    assert_near(rstd, (double[]){0.5, 0.25}, 2, 0);
  }
}

/* ---- Bounds ------------------------------------------------------------------------------------------------------ */

/* float is within the bounds of f32 around f128, and half a percent is not: bounds are wide enough and not too wide. */
static void test_magnitudes_bound_float(void **state) {
  (void)state;
  float x[300], got[300];
  kw_wide exact[300], bound[300], rows[2];
  uint32_t noise = 1;
  for (size_t i = 0; i < 300; i++) {
    noise = noise * 1664525 + 1013904223;
    x[i] = (float)(noise >> 8) * 0x1p-20f - 8;
  }
  const int64_t shape[1] = {300};
  float f32_rows[2];
  kw_tensor_ref in = TENSOR(KW_F32, x, 1, 300), out = TENSOR(KW_F32, got, 1, 300);
  kw_tensor_ref wide = TENSOR(KW_DTYPE_WIDE, exact, 1, 300), limit = TENSOR(KW_DTYPE_WIDE, bound, 1, 300);
  static const char *const ops[][2] = {{"_softmax", "_softmax/magnitude"},
                                       {"_log_softmax", "_log_softmax/magnitude"},
                                       {"rms_norm", "rms_norm/magnitude"},
                                       {"native_layer_norm", "native_layer_norm/magnitude"}};
  for (size_t k = 0; k < 4; k++) {
    kw_value args[5] = {test_arg(&in), list_arg(shape, 1), test_none(), test_none(), float_arg(1e-5)};
    if (k < 2) args[1] = dim_arg(1);
    if (k < 2) args[2] = bool_arg(false);
    for (size_t t = 0; t < 3; t++) {
      const kw_tensor_ref *main_out[] = {&out, &wide, &limit};
      kw_dtype dtype = t == 0 ? KW_F32 : KW_DTYPE_WIDE;
      void *room = t == 0 ? (void *)f32_rows : rows;
      const kw_tensor_ref outs[3] = {*main_out[t], TENSOR(dtype, room, 1, 1), TENSOR(dtype, room, 1, 1)};
      assert_int_equal(layer_norm(t == 0 ? kw_reference_f32 : kw_reference_f128, ops[k][t == 2], outs, args), KW_OK);
    }
    for (size_t i = 0; i < 300; i++) {
      double allowed = 0x1p-23 * bound[i].hi, off = fabs(got[i] - exact[i].hi);
      assert_true(off <= allowed);
      if (exact[i].hi > 1e-30) assert_true(allowed < 0.005 * (fabs(exact[i].hi) + (k == 3) + (k == 1)));
    }
  }
}

/* rstd of float, by a mean that is updated element by element, or by the squares' mean less the mean's square. */
static float rstd_of(const float *x, int count, bool updated) {
  float mean = 0, sum = 0, squares = 0;
  for (int i = 0; i < count; i++) {
    const float off = x[i] - mean;
    mean += off / (float)(i + 1);
    sum += updated ? off * (x[i] - mean) : x[i];
    squares += x[i] * x[i];
  }
  const float plain = squares / (float)count - sum / (float)count * (sum / (float)count);
  const float variance = updated ? sum / (float)count : plain < 0 ? 0 : plain;
  return 1 / sqrtf(variance + 1e-5f);
}

/* Far from 0 the bound of rstd has room for Welford's way, and none for the way that cancels. */
static void test_updated_means_are_right(void **state) {
  (void)state;
  static const struct {
    float far;
    int count;
  } rows[] = {{512, 7}, {512, 300}, {1e4f, 7}, {1e4f, 300}, {64, 70}};
  uint32_t noise = 1;
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    float x[300];
    kw_wide out[300], mean, exact[1], bound[1];
    for (int i = 0; i < rows[k].count; i++) {
      noise = noise * 1664525 + 1013904223;
      x[i] = rows[k].far + (float)(noise >> 8) * 0x1p-23f - 1;
    }
    const int64_t shape[1] = {rows[k].count};
    kw_tensor_ref in = TENSOR(KW_F32, x, 1, rows[k].count), wide = TENSOR(KW_DTYPE_WIDE, out, 1, rows[k].count);
    kw_value args[5] = {test_arg(&in), list_arg(shape, 1), test_none(), test_none(), float_arg(1e-5)};
    for (int t = 0; t < 2; t++) {
      const kw_tensor_ref outs[3] = {wide, TENSOR(KW_DTYPE_WIDE, &mean, 1, 1),
                                     TENSOR(KW_DTYPE_WIDE, t == 0 ? exact : bound, 1, 1)};
      const char *op = t == 0 ? "native_layer_norm" : "native_layer_norm/magnitude";
      assert_int_equal(layer_norm(kw_reference_f128, op, outs, args), KW_OK);
    }
    const double allowed = 0x1p-23 * bound[0].hi;
    assert_true(fabs(rstd_of(x, rows[k].count, true) - exact[0].hi) <= allowed);
    assert_true(fabs(rstd_of(x, rows[k].count, false) - exact[0].hi) > 2 * allowed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_softmax),
      cmocka_unit_test(test_softmax_special_rows),
      cmocka_unit_test(test_softmax_strides),
      cmocka_unit_test(test_half_to_float),
      cmocka_unit_test(test_layer_norm),
      cmocka_unit_test(test_layer_norm_dtypes),
      cmocka_unit_test(test_layer_norm_of_nothing),
      cmocka_unit_test(test_rms_norm),
      cmocka_unit_test(test_batch_norm),
      cmocka_unit_test(test_running_statistics),
      cmocka_unit_test(test_group_norm),
      cmocka_unit_test(test_fused_rms_norm),
      cmocka_unit_test(test_magnitudes_bound_float),
      cmocka_unit_test(test_updated_means_are_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

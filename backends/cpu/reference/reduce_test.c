/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans.
 */
#include "test_call.h"

#include <float.h>
#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static kw_value list(const int64_t *ints, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = ints};
}

static kw_value dtype_arg(kw_dtype dtype) {
  return (kw_value){.tag = KW_TAG_DTYPE, .u.dtype = dtype};
}

static kw_value int_arg(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static const kw_value keep = {.tag = KW_TAG_BOOL, .u.b = true}, drop = {.tag = KW_TAG_BOOL};

static void test_sum(void **state) {
  (void)state;
  float x[6] = {1, 2, 3, 4, 5, 6}, out[6];
  int64_t middle[] = {1}, outer[] = {-2, 1}, total = 0;
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3);
  kw_tensor_ref two = TENSOR(KW_F32, out, 2), kept = TENSOR(KW_F32, out, 2, 1), one = RANK0(KW_F32, out);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "sum.dim_IntList", &two, test_arg(&self), list(middle, 1), drop, test_none());
    assert_true(out[0] == 6 && out[1] == 15);
    RUN(tables[t], "sum.dim_IntList", &kept, test_arg(&self), list(middle, 1), keep, test_none());
    assert_true(out[0] == 6 && out[1] == 15);
    RUN(tables[t], "sum.dim_IntList", &one, test_arg(&self), list(outer, 2), drop, test_none());
    assert_true(out[0] == 21);
    RUN(tables[t], "sum", &one, test_arg(&self), test_none());
    assert_true(out[0] == 21);
  }
  uint8_t bytes[3] = {200, 100, 1};
  kw_tensor_ref u8 = TENSOR(KW_U8, bytes, 3), i64 = RANK0(KW_I64, &total);
  RUN(kw_reference_f32, "sum", &i64, test_arg(&u8), test_none());
  assert_int_equal(total, 301);
  uint8_t narrow = 0;
  kw_tensor_ref narrow_out = RANK0(KW_U8, &narrow);
  RUN(kw_reference_f32, "sum", &narrow_out, test_arg(&u8), dtype_arg(KW_U8));
  assert_int_equal(narrow, 45);
  float none[1];
  kw_tensor_ref empty = TENSOR(KW_F32, none, 2, 0);
  RUN(kw_reference_f32, "sum.dim_IntList", &two, test_arg(&empty), list(middle, 1), drop, test_none());
  assert_true(out[0] == 0 && out[1] == 0);
}

/* A million tenths: added in a row the error would be about a thousand units. */
static void test_sum_is_pairwise(void **state) {
  (void)state;
  static float x[1000003];
  float total = 0;
  for (size_t i = 0; i < 1000003; i++) x[i] = 0.1f;
  kw_tensor_ref self = TENSOR(KW_F32, x, 1000003), out = RANK0(KW_F32, &total);
  RUN(kw_reference_f32, "sum", &out, test_arg(&self), test_none());
  double exact = 1000003 * (double)0.1f;
  assert_true(fabs((double)total - exact) <= 2 * (double)FLT_EPSILON * exact);
}

static void test_amax_argmax(void **state) {
  (void)state;
  float x[8] = {1, 7, 7, 2, NAN, 3, NAN, 9}, largest[2];
  int64_t index[4], one[] = {1};
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 4), max = TENSOR(KW_F32, largest, 2), where = TENSOR(KW_I64, index, 2);
  kw_tensor_ref all = RANK0(KW_I64, index);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "amax", &max, test_arg(&self), list(one, 1), drop);
    assert_true(largest[0] == 7 && isnan(largest[1]));
    RUN(tables[t], "argmax", &where, test_arg(&self), int_arg(-1), drop);
    assert_true(index[0] == 1 && index[1] == 0);
    RUN(tables[t], "argmax", &all, test_arg(&self), test_none(), drop);
    assert_int_equal(index[0], 4); /* flattened: the first NaN */
  }
  int8_t bytes[4] = {-128, -3, -3, -128}, best = 0;
  kw_tensor_ref i8 = TENSOR(KW_I8, bytes, 4), i8_out = RANK0(KW_I8, &best);
  RUN(kw_reference_f32, "amax", &i8_out, test_arg(&i8), list(NULL, 0), drop);
  assert_int_equal(best, -3);
  RUN(kw_reference_f32, "argmax", &all, test_arg(&i8), test_none(), drop);
  assert_int_equal(index[0], 1);
  kw_tensor_ref empty = TENSOR(KW_F32, x, 2, 0);
  assert_int_equal(TRY(kw_reference_f32, "amax", &max, test_arg(&empty), list(one, 1), drop), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(TRY(kw_reference_f32, "argmax", &all, test_arg(&empty), test_none(), drop), KW_ERR_INVALID_ARGUMENT);
}

static void test_amin_argmin(void **state) {
  (void)state;
  float x[8] = {5, 1, 1, 2, 3, NAN, -3, NAN}, smallest[2];
  int64_t index[2], one[] = {1};
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 4), min = TENSOR(KW_F32, smallest, 2), where = TENSOR(KW_I64, index, 2);
  kw_tensor_ref all = RANK0(KW_I64, index);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "amin", &min, test_arg(&self), list(one, 1), drop);
    assert_true(smallest[0] == 1 && isnan(smallest[1]));
    RUN(tables[t], "argmin", &where, test_arg(&self), int_arg(1), drop);
    assert_true(index[0] == 1 && index[1] == 1);
    RUN(tables[t], "argmin", &all, test_arg(&self), test_none(), drop);
    assert_int_equal(index[0], 5);
  }
  int8_t bytes[4] = {127, -3, 4, -3}, best = 0;
  kw_tensor_ref i8 = TENSOR(KW_I8, bytes, 4), i8_out = RANK0(KW_I8, &best), empty = TENSOR(KW_F32, x, 2, 0);
  RUN(kw_reference_f32, "amin", &i8_out, test_arg(&i8), list(NULL, 0), drop);
  assert_int_equal(best, -3);
  RUN(kw_reference_f32, "argmin", &all, test_arg(&i8), test_none(), drop);
  assert_int_equal(index[0], 1);
  assert_int_equal(TRY(kw_reference_f32, "amin", &min, test_arg(&empty), list(one, 1), drop), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(TRY(kw_reference_f32, "argmin", &all, test_arg(&empty), test_none(), drop), KW_ERR_INVALID_ARGUMENT);
}

static void test_mean(void **state) {
  (void)state;
  float x[6] = {1, 2, 6, 4, 5, 9}, out[3];
  int32_t whole[2] = {1, 2};
  int64_t first[] = {0}, last[] = {-1};
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), empty = TENSOR(KW_F32, x, 3, 0), i32 = TENSOR(KW_I32, whole, 2);
  kw_tensor_ref one = RANK0(KW_F32, out), three = TENSOR(KW_F32, out, 3), kept = TENSOR(KW_F32, out, 2, 1);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "mean", &one, test_arg(&self), test_none());
    assert_true(out[0] == 4.5f);
    RUN(tables[t], "mean.dim", &three, test_arg(&self), list(first, 1), drop, test_none());
    assert_memory_equal(out, ((float[]){2.5f, 3.5f, 7.5f}), sizeof out);
    RUN(tables[t], "mean.dim", &kept, test_arg(&self), list(last, 1), keep, test_none());
    assert_true(out[0] == 3 && out[1] == 6);
    RUN(tables[t], "mean.dim", &three, test_arg(&empty), list(last, 1), drop, test_none());
    assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
    RUN(tables[t], "mean", &one, test_arg(&i32), dtype_arg(KW_F32));
    assert_true(out[0] == 1.5f);
  }
  assert_int_equal(TRY(kw_reference_f32, "mean", &one, test_arg(&i32), test_none()), KW_ERR_INVALID_ARGUMENT);
  /* Summed and divided in f32, rounded once: in f16 the sum would be infinite. */
  uint16_t half[2] = {0x7bff, 0x7bfd}, mean = 0; /* 65504, 65440 */
  kw_tensor_ref f16 = TENSOR(KW_F16, half, 2), f16_out = RANK0(KW_F16, &mean);
  RUN(kw_reference_f32, "mean", &f16_out, test_arg(&f16), test_none());
  assert_int_equal(mean, 0x7bfe);
}

static void test_prod(void **state) {
  (void)state;
  float x[6] = {1, -2, 3, 4, 0.5f, INFINITY}, out[2];
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), one = RANK0(KW_F32, out), two = TENSOR(KW_F32, out, 2);
  kw_tensor_ref empty = TENSOR(KW_F32, x, 2, 0);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "prod", &one, test_arg(&self), test_none());
    assert_true(out[0] == -INFINITY);
    RUN(tables[t], "prod.dim_int", &two, test_arg(&self), int_arg(-1), drop, test_none());
    assert_true(out[0] == -6 && out[1] == INFINITY);
    RUN(tables[t], "prod.dim_int", &two, test_arg(&empty), int_arg(1), drop, test_none());
    assert_true(out[0] == 1 && out[1] == 1);
  }
  uint8_t bytes[3] = {200, 3, 5}, narrow = 0;
  int64_t product = 0;
  kw_tensor_ref u8 = TENSOR(KW_U8, bytes, 3), i64 = RANK0(KW_I64, &product), u8_out = RANK0(KW_U8, &narrow);
  RUN(kw_reference_f32, "prod", &i64, test_arg(&u8), test_none());
  assert_int_equal(product, 3000);
  RUN(kw_reference_f32, "prod", &u8_out, test_arg(&u8), dtype_arg(KW_U8));
  assert_int_equal(narrow, 3000 % 256);
}

static void test_any(void **state) {
  (void)state;
  float x[6] = {0, -0.0f, 0, 0, NAN, 0}, tiny[1] = {FLT_TRUE_MIN};
  uint8_t out[6], bytes[4] = {0, 0, 0, 128};
  int64_t first[] = {0};
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), empty = TENSOR(KW_F32, x, 2, 0), small = TENSOR(KW_F32, tiny, 1);
  kw_tensor_ref one = RANK0(KW_BOOL, out), two = TENSOR(KW_BOOL, out, 2), three = TENSOR(KW_BOOL, out, 3);
  kw_tensor_ref six = TENSOR(KW_BOOL, out, 2, 3), u8 = TENSOR(KW_U8, bytes, 4), u8_out = RANK0(KW_U8, out);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "any", &one, test_arg(&self));
    assert_int_equal(out[0], 1);
    RUN(tables[t], "any", &one, test_arg(&small));
    assert_int_equal(out[0], 1);
    RUN(tables[t], "any", &one, test_arg(&empty));
    assert_int_equal(out[0], 0);
    RUN(tables[t], "any.dim", &two, test_arg(&self), int_arg(1), drop);
    assert_memory_equal(out, ((uint8_t[]){0, 1}), 2);
    RUN(tables[t], "any.dims", &three, test_arg(&self), list(first, 1), drop);
    assert_memory_equal(out, ((uint8_t[]){0, 1, 0}), 3);
    RUN(tables[t], "any.dims", &one, test_arg(&self), test_none(), drop);
    assert_int_equal(out[0], 1);
    RUN(tables[t], "any.dims", &six, test_arg(&self), list(NULL, 0), drop); /* no dimension: element by element */
    assert_memory_equal(out, ((uint8_t[]){0, 0, 0, 0, 1, 0}), 6);
    RUN(tables[t], "any", &u8_out, test_arg(&u8));
    assert_int_equal(out[0], 1);
  }
}

static void test_all(void **state) {
  (void)state;
  float x[6] = {1, NAN, -0.0f, 2, FLT_TRUE_MIN, -1};
  uint8_t out[6];
  int64_t first[] = {0};
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), empty = TENSOR(KW_F32, x, 2, 0);
  kw_tensor_ref one = RANK0(KW_BOOL, out), two = TENSOR(KW_BOOL, out, 2), three = TENSOR(KW_BOOL, out, 3);
  kw_tensor_ref six = TENSOR(KW_BOOL, out, 2, 3);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "all", &one, test_arg(&self));
    assert_int_equal(out[0], 0);
    RUN(tables[t], "all", &one, test_arg(&empty));
    assert_int_equal(out[0], 1);
    RUN(tables[t], "all.dim", &two, test_arg(&self), int_arg(1), drop);
    assert_memory_equal(out, ((uint8_t[]){0, 1}), 2);
    RUN(tables[t], "all.dims", &three, test_arg(&self), list(first, 1), drop);
    assert_memory_equal(out, ((uint8_t[]){1, 1, 0}), 3);
    RUN(tables[t], "all.dims", &six, test_arg(&self), list(NULL, 0), drop);
    assert_memory_equal(out, ((uint8_t[]){1, 1, 0, 1, 1, 1}), 6);
  }
}

static void test_max_and_min(void **state) {
  (void)state;
  float x[8] = {1, 5, 5, 0, 3, NAN, 7, NAN}, values[2];
  int64_t indices[2];
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 4), first = TENSOR(KW_F32, x, 4), one = RANK0(KW_F32, values);
  kw_tensor_ref value = TENSOR(KW_F32, values, 2), index = TENSOR(KW_I64, indices, 2);
  const kw_tensor_ref *outs[] = {&value, &index};
  kw_value args[] = {test_arg(&self), int_arg(1), drop};
  kw_call call = {.struct_size = sizeof call, .arg_count = 3, .out_count = 2, .args = args, .outs = outs};
  for (size_t t = 0; t < 3; t++) {
    call.op = "max.dim";
    assert_int_equal(test_call(tables[t], &call), KW_OK);
    assert_true(values[0] == 5 && isnan(values[1]));
    assert_true(indices[0] == 1 && indices[1] == 1);
    call.op = "min.dim";
    assert_int_equal(test_call(tables[t], &call), KW_OK);
    assert_true(values[0] == 0 && isnan(values[1]));
    assert_true(indices[0] == 3 && indices[1] == 1);
    RUN(tables[t], "max", &one, test_arg(&first));
    assert_true(values[0] == 5);
    RUN(tables[t], "min", &one, test_arg(&first));
    assert_true(values[0] == 0);
    RUN(tables[t], "max", &one, test_arg(&self));
    assert_true(isnan(values[0]));
  }
}

static void test_cumprod(void **state) {
  (void)state;
  float x[6] = {1, 2, 3, 4, 5, 6}, out[6];
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), result = TENSOR(KW_F32, out, 2, 3);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "cumprod", &result, test_arg(&self), int_arg(1), test_none());
    assert_memory_equal(out, ((float[]){1, 2, 6, 4, 20, 120}), sizeof out);
    RUN(tables[t], "cumprod", &result, test_arg(&self), int_arg(-2), test_none());
    assert_memory_equal(out, ((float[]){1, 2, 3, 4, 10, 18}), sizeof out);
  }
  uint8_t bytes[3] = {200, 100, 2};
  int64_t products[3];
  kw_tensor_ref u8 = TENSOR(KW_U8, bytes, 3), i64 = TENSOR(KW_I64, products, 3);
  RUN(kw_reference_f32, "cumprod", &i64, test_arg(&u8), int_arg(0), test_none());
  assert_memory_equal(products, ((int64_t[]){200, 20000, 40000}), sizeof products);
}

static void test_cumsum(void **state) {
  (void)state;
  float x[6] = {1, 2, 3, 4, 5, 6}, out[6], single = 7;
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), result = TENSOR(KW_F32, out, 2, 3);
  kw_tensor_ref rank0 = RANK0(KW_F32, &single), rank0_out = RANK0(KW_F32, out);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "cumsum", &result, test_arg(&self), int_arg(1), test_none());
    assert_memory_equal(out, ((float[]){1, 3, 6, 4, 9, 15}), sizeof out);
    RUN(tables[t], "cumsum", &result, test_arg(&self), int_arg(-2), test_none());
    assert_memory_equal(out, ((float[]){1, 2, 3, 5, 7, 9}), sizeof out);
    RUN(tables[t], "cumsum", &rank0_out, test_arg(&rank0), int_arg(0), test_none());
    assert_true(out[0] == 7);
  }
  uint8_t bytes[3] = {200, 100, 1}, narrow[3];
  int64_t sums[3];
  kw_tensor_ref u8 = TENSOR(KW_U8, bytes, 3), i64 = TENSOR(KW_I64, sums, 3), u8_out = TENSOR(KW_U8, narrow, 3);
  RUN(kw_reference_f32, "cumsum", &i64, test_arg(&u8), int_arg(0), test_none());
  assert_memory_equal(sums, ((int64_t[]){200, 300, 301}), sizeof sums);
  RUN(kw_reference_f32, "cumsum", &u8_out, test_arg(&u8), int_arg(0), dtype_arg(KW_U8));
  assert_memory_equal(narrow, ((uint8_t[]){200, 44, 45}), sizeof narrow);
}

/* Elements are converted to the dtype before anything is computed. */
static void test_dtype_comes_first(void **state) {
  (void)state;
  float x[2] = {2.5f, 3.5f};
  int32_t out[2];
  kw_tensor_ref self = TENSOR(KW_F32, x, 2), one = RANK0(KW_I32, out), two = TENSOR(KW_I32, out, 2);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "sum", &one, test_arg(&self), dtype_arg(KW_I32));
    assert_int_equal(out[0], 5);
    RUN(tables[t], "prod", &one, test_arg(&self), dtype_arg(KW_I32));
    assert_int_equal(out[0], 6);
    RUN(tables[t], "prod.dim_int", &one, test_arg(&self), int_arg(0), drop, dtype_arg(KW_I32));
    assert_int_equal(out[0], 6);
    RUN(tables[t], "cumsum", &two, test_arg(&self), int_arg(0), dtype_arg(KW_I32));
    assert_true(out[0] == 2 && out[1] == 5);
  }
}

/* Each prefix is what sum makes of it: added in a row the last would be off by about a thousand units. */
static void test_cumsum_is_pairwise(void **state) {
  (void)state;
  enum { COUNT = 100003 };
  static float x[COUNT], out[COUNT];
  for (size_t i = 0; i < COUNT; i++) x[i] = 0.1f;
  kw_tensor_ref self = TENSOR(KW_F32, x, COUNT), result = TENSOR(KW_F32, out, COUNT);
  RUN(kw_reference_f32, "cumsum", &result, test_arg(&self), int_arg(0), test_none());
  for (size_t i = 0; i < COUNT; i++) {
    double exact = (double)(i + 1) * (double)0.1f;
    assert_true(fabs((double)out[i] - exact) <= 2 * (double)FLT_EPSILON * exact);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sum),
      cmocka_unit_test(test_sum_is_pairwise),
      cmocka_unit_test(test_amax_argmax),
      cmocka_unit_test(test_amin_argmin),
      cmocka_unit_test(test_mean),
      cmocka_unit_test(test_prod),
      cmocka_unit_test(test_any),
      cmocka_unit_test(test_all),
      cmocka_unit_test(test_max_and_min),
      cmocka_unit_test(test_cumprod),
      cmocka_unit_test(test_cumsum),
      cmocka_unit_test(test_cumsum_is_pairwise),
      cmocka_unit_test(test_dtype_comes_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

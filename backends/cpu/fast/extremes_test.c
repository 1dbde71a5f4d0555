/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of ops whose results are one and the same however they are computed: extremes and their places, the first in
 * order, any and all, products of integers. They are the reference's, in pieces of several sizes, with ties, NaN and
 * both zeros among the elements.
 */
#include "test_fast.h"

#include "number.h"
#include "test_call.h"

#include <math.h>

#define MOST 45150 /* elements of a tensor */
#define RESULTS 2

static char numbers[8 * MOST], expected[RESULTS][8 * MOST], got[RESULTS][8 * MOST];

static uint32_t draw(void) {
  static uint32_t state = 2026;
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

/* Few different numbers, which tie; `hole`: on average every so many is NaN. */
static void fill(kw_dtype dtype, uint32_t hole) {
  for (int64_t i = 0; i < MOST; i++) {
    double x = (double)(draw() % 7) - 3;
    if (hole > 0 && draw() % hole == 0) x = NAN;
    if (x == 0 && draw() % 2) x = -0.0;
    kw_number_store(dtype, numbers + i * (int64_t)kw_number_size(dtype), x);
  }
}

static kw_value ints(const int64_t *list, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = list};
}
#define INT(number) ((kw_value){.tag = KW_TAG_INT, .u.i = number})
#define FLAG(value) ((kw_value){.tag = KW_TAG_BOOL, .u.b = value})

static void check(const char *op, const kw_tensor_ref *outs, uint32_t out_count, const kw_value *args,
                  uint32_t arg_count) {
  static const int64_t pieces[] = {1, INT64_C(1) << 40};
  kw_tensor_ref results[RESULTS];
  const kw_tensor_ref *list[RESULTS];
  kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .out_count = out_count, .op = op, .args = args};
  call.outs = list;
  for (size_t p = 0; p <= sizeof pieces / sizeof *pieces; p++) {
    for (uint32_t k = 0; k < out_count; k++) {
      results[k] = outs[k];
      results[k].mem = p == 0 ? expected[k] : got[k];
      list[k] = &results[k];
      memset(results[k].mem, 0x55, 8 * (size_t)outs[k].numel);
    }
    if (p == 0) {
      assert_int_equal(test_call(args[0].u.tensor->dtype == KW_F64 ? kw_reference_f64 : kw_reference_f32, &call),
                       KW_OK);
      continue;
    }
    assert_int_equal(test_fast_call(&call, pieces[p - 1]), KW_OK);
    for (uint32_t k = 0; k < out_count; k++) {
      for (int64_t i = 0; i < outs[k].numel; i++) {
        const int64_t size = (int64_t)kw_number_size(outs[k].dtype);
        const double wanted = kw_number_load(outs[k].dtype, expected[k] + i * size);
        const double is = kw_number_load(outs[k].dtype, got[k] + i * size);
        if (is == wanted || (isnan(is) && isnan(wanted))) continue;
        fail_msg("%s, dtype %d, in pieces of %lld, result %u: element %lld is %g, not %g", op, args[0].u.tensor->dtype,
                 (long long)pieces[p - 1], k, (long long)i, is, wanted);
      }
    }
  }
}
#define CHECK(op, outs, count, ...) \
  check(op, outs, count, (const kw_value[]){__VA_ARGS__}, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))

static void check_dim(const kw_tensor_ref *in, uint32_t dim) {
  kw_tensor_ref kept = *in;
  kept.shape[dim] = 1;
  const int64_t list[] = {dim};
  const kw_dtype truth = in->dtype == KW_U8 ? KW_U8 : KW_BOOL;
  const kw_tensor_ref values = test_tensor(in->dtype, NULL, in->rank, kept.shape);
  const kw_tensor_ref outs[] = {values, test_tensor(KW_I64, NULL, in->rank, kept.shape)};
  const kw_tensor_ref truths = test_tensor(truth, NULL, in->rank, kept.shape);
  CHECK("max.dim", outs, 2, test_arg(in), INT(dim), FLAG(true));
  CHECK("min.dim", outs, 2, test_arg(in), INT(dim), FLAG(true));
  CHECK("argmax", &outs[1], 1, test_arg(in), INT(dim), FLAG(true));
  CHECK("argmin", &outs[1], 1, test_arg(in), INT(dim), FLAG(true));
  CHECK("amax", &values, 1, test_arg(in), ints(list, 1), FLAG(true));
  CHECK("any.dim", &truths, 1, test_arg(in), INT(dim), FLAG(true));
  CHECK("all.dims", &truths, 1, test_arg(in), ints(list, 1), FLAG(true));
  if (!kw_number_is_integer(in->dtype)) return;
  CHECK("prod.dim_int", &outs[1], 1, test_arg(in), INT(dim), FLAG(true), test_none());
}

/* A tensor and what it is with its dimensions the other way round. */
static void check_shape(kw_dtype dtype, const int64_t *shape, uint32_t rank) {
  kw_tensor_ref in = test_tensor(dtype, numbers, rank, shape), turned = in;
  for (uint32_t d = 0; d < rank; d++) {
    turned.shape[d] = in.shape[rank - 1 - d];
    turned.strides[d] = in.strides[rank - 1 - d];
  }
  const kw_tensor_ref *both[] = {&in, &turned};
  for (int k = 0; k < 2; k++) {
    const kw_tensor_ref one = test_tensor(KW_I64, NULL, 0, NULL);
    const kw_tensor_ref truth = test_tensor(dtype == KW_U8 ? KW_U8 : KW_BOOL, NULL, 0, NULL);
    CHECK("argmax", &one, 1, test_arg(both[k]), test_none(), FLAG(false));
    CHECK("argmin", &one, 1, test_arg(both[k]), test_none(), FLAG(false));
    CHECK("any", &truth, 1, test_arg(both[k]));
    for (uint32_t d = 0; d < rank; d++) check_dim(both[k], d);
  }
}

static void test_extremes(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_F32, KW_F64, KW_U8, KW_I32, KW_I64};
  static const int64_t shapes[][3] = {{1, 1, 1}, {3, 5, 7}, {2, 1100, 3}, {1, 150, 301}, {1, 1, 40000}};
  static const uint32_t holes[] = {0, 200};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (size_t h = 0; h < (kw_number_is_integer(dtypes[d]) ? 1 : sizeof holes / sizeof *holes); h++) {
      fill(dtypes[d], holes[h]);
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) check_shape(dtypes[d], shapes[s], 3);
    }
  }
}

/* Nothing but the worst, and an only place at the end. */
static void test_worst(void **state) {
  (void)state;
  const kw_tensor_ref in = TENSOR(KW_F32, numbers, 40000), one = RANK0(KW_I64, NULL);
  float *x = (float *)(void *)numbers;
  for (int k = 0; k < 40000; k++) x[k] = -INFINITY;
  CHECK("argmax", &one, 1, test_arg(&in), test_none(), FLAG(false));
  assert_int_equal(*(int64_t *)(void *)got[0], 0);
  x[39999] = -1;
  CHECK("argmax", &one, 1, test_arg(&in), test_none(), FLAG(false));
  assert_int_equal(*(int64_t *)(void *)got[0], 39999);
  x[20000] = NAN;
  CHECK("argmin", &one, 1, test_arg(&in), test_none(), FLAG(false));
  assert_int_equal(*(int64_t *)(void *)got[0], 20000);
}

/* The first few and many of lines in order, and all. */
static void test_top(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_BF16, KW_F32, KW_F64, KW_I16, KW_I64};
  static const int64_t kept[] = {0, 1, 3, 40, 41, 300, 999, 1000};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    fill(dtypes[d], kw_number_is_integer(dtypes[d]) ? 0 : 300);
    if (dtypes[d] == KW_I64) { /* more than 32 bits in the second line */
      for (int k = 1000; k < 2000; k++) ((int64_t *)(void *)numbers)[k] *= INT64_C(0x123456789abc);
    }
    const kw_tensor_ref in = TENSOR(dtypes[d], numbers, 2, 1000);
    kw_tensor_ref turned = TENSOR(dtypes[d], numbers, 1000, 2);
    turned.strides[0] = 1;
    turned.strides[1] = 1000;
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
      for (int largest = 0; largest < 2; largest++) {
        const kw_tensor_ref outs[] = {TENSOR(dtypes[d], NULL, 2, kept[k]), TENSOR(KW_I64, NULL, 2, kept[k])};
        const kw_tensor_ref down[] = {TENSOR(dtypes[d], NULL, kept[k], 2), TENSOR(KW_I64, NULL, kept[k], 2)};
        CHECK("topk", outs, 2, test_arg(&in), INT(kept[k]), INT(-1), FLAG(largest), FLAG(true));
        CHECK("topk", down, 2, test_arg(&turned), INT(kept[k]), INT(0), FLAG(largest), FLAG(true));
        if (kept[k] != 1000) continue;
        CHECK("sort.stable", outs, 2, test_arg(&in), FLAG(true), INT(-1), FLAG(largest));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_extremes), cmocka_unit_test(test_worst),
                                     cmocka_unit_test(test_top)};
  const char *why;
  if (!kw_fast_choose(&why)) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}

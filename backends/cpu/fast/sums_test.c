/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the kernels that add up: their bits are the same in pieces of several sizes, which says that they do not
 * depend on how many threads there are, and near what the reference computes in doubles. How near they have to be is
 * for the conformance suite to say.
 */
#include "test_fast.h"

#include "number.h"
#include "test_call.h"

#include <math.h>
#include <stdbool.h>

#define MOST 131072 /* elements of a tensor */
#define ARGUMENTS 4 /* tensors with numbers of their own */
#define RESULTS 3

static char numbers[ARGUMENTS][8 * MOST];
static char expected[RESULTS][8 * MOST], got[RESULTS][8 * MOST], first[RESULTS][8 * MOST];

static double draw(void) {
  static uint32_t state = 2026;
  state = state * 1664525u + 1013904223u;
  return (state >> 8) * 0x1p-23 - 1;
}

/* Numbers from -1 to 1; `positive`: from 0.25 to 2.25. */
static void fill(kw_dtype dtype, uint32_t which, bool positive) {
  for (int64_t i = 0; i < MOST; i++) {
    kw_number_store(dtype, numbers[which] + i * (int64_t)kw_number_size(dtype), draw() + (positive ? 1.25 : 0));
  }
}

static kw_value ints(const int64_t *list, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = list};
}
#define INTS(...) ints((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INT(number) ((kw_value){.tag = KW_TAG_INT, .u.i = number})
#define FLOAT(number) ((kw_value){.tag = KW_TAG_FLOAT, .u.f = number})
#define FLAG(value) ((kw_value){.tag = KW_TAG_BOOL, .u.b = value})

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

static void assert_near(const char *op, const kw_tensor_ref *out, uint32_t k) {
  const int64_t size = (int64_t)kw_number_size(out->dtype);
  const double eps = out->dtype == KW_F64 ? 1e-12 : out->dtype == KW_F32 ? 1e-4 : 0.02;
  for (int64_t i = 0; i < MOST; i++) { /* gaps, too, which nothing is written to */
    const double wanted = kw_number_load(out->dtype, expected[k] + i * size);
    const double is = kw_number_load(out->dtype, got[k] + i * size);
    if (is == wanted || (isnan(is) && isnan(wanted))) continue;
    if (fabs(is - wanted) <= eps * (1 + fabs(wanted))) continue;
    fail_msg("%s, dtype %d, result %u: element %lld is %.9g, not %.9g", op, out->dtype, k, (long long)i, is, wanted);
  }
}

/* Runs an op with results of these shapes, those without rank left out, and compares. */
static void check(const char *op, const kw_tensor_ref *outs, uint32_t out_count, const kw_value *args,
                  uint32_t arg_count) {
  static const int64_t pieces[] = {1, 7, 100, INT64_C(1) << 40};
  kw_tensor_ref results[RESULTS];
  const kw_tensor_ref *list[RESULTS] = {NULL};
  kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .out_count = out_count, .op = op, .args = args};
  call.outs = list;
  for (size_t p = 0; p <= sizeof pieces / sizeof *pieces; p++) {
    memset(p == 0 ? expected : got, 0, sizeof got);
    for (uint32_t k = 0; k < out_count; k++) {
      results[k] = outs[k];
      results[k].mem = p == 0 ? expected[k] : got[k];
      if (outs[k].rank > 0) list[k] = &results[k];
    }
    if (p == 0) {
      assert_int_equal(test_call(kw_reference_f64, &call), KW_OK);
      continue;
    }
    assert_int_equal(test_fast_call(&call, pieces[p - 1]), KW_OK);
    if (p == 1) memcpy(first, got, sizeof first);
    if (memcmp(first, got, sizeof first) != 0) {
      fail_msg("%s, dtype %d: other bits in pieces of %lld", op, outs[0].dtype, (long long)pieces[p - 1]);
    }
  }
  for (uint32_t k = 0; k < out_count; k++) {
    if (list[k]) assert_near(op, list[k], k);
  }
}
#define CHECK(op, outs, count, ...) \
  check(op, outs, count, (const kw_value[]){__VA_ARGS__}, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))

/* ---- Backwards of norms ------------------------------------------------------------------------------------------ */

/* The results that bit k of `mask` asks for. */
static void choose(kw_tensor_ref outs[RESULTS], const kw_tensor_ref *in, const kw_tensor_ref *weight, int mask) {
  const kw_tensor_ref all[RESULTS] = {*in, *weight, *weight};
  for (int k = 0; k < RESULTS; k++) {
    outs[k] = mask >> k & 1 ? all[k] : (kw_tensor_ref){.dtype = in->dtype};
  }
}

static kw_tensor_ref transposed(kw_tensor_ref tensor, uint32_t a, uint32_t b) {
  const int64_t stride = tensor.strides[a];
  tensor.strides[a] = tensor.strides[b];
  tensor.strides[b] = stride;
  return tensor;
}

static void check_layer_norms(kw_dtype dtype, kw_dtype wide, int64_t rows, int64_t width, bool turned, int mask) {
  const kw_tensor_ref out = TENSOR(dtype, NULL, rows, width);
  kw_tensor_ref g = TENSOR(dtype, numbers[0], rows, width), x = TENSOR(dtype, numbers[1], rows, width);
  const kw_tensor_ref w = TENSOR(dtype, numbers[2], width), number = TENSOR(wide, numbers[3], rows, 1);
  if (turned) {
    g = transposed(TENSOR(dtype, numbers[0], width, rows), 0, 1);
    g.shape[0] = rows;
    g.shape[1] = width;
    x.strides[0] = g.strides[0];
    x.strides[1] = g.strides[1];
  }
  kw_tensor_ref outs[RESULTS];
  choose(outs, &out, &w, mask);
  const kw_value weight = mask == 3 ? test_none() : test_arg(&w);
  CHECK("native_layer_norm_backward", outs, 3, test_arg(&g), test_arg(&x), INTS(width), test_arg(&number),
        test_arg(&number), weight, weight, INTS(1, 1, 1));
  CHECK("_fused_rms_norm_backward", outs, 2, test_arg(&g), test_arg(&x), INTS(width), test_arg(&number), weight,
        INTS(1, 1));
}

static void check_channel_norms(kw_dtype dtype, kw_dtype wide, int64_t n, int64_t channels, int64_t area, int last,
                                int mask) {
  kw_tensor_ref out = TENSOR(dtype, NULL, n, channels, area), g = out, x = out, outs[RESULTS];
  if (last) { /* channels are the dense dimension */
    x.strides[1] = 1;
    x.strides[2] = channels;
    g = x;
  }
  g.mem = numbers[0];
  x.mem = numbers[1];
  const kw_tensor_ref w = TENSOR(dtype, numbers[2], channels), number = TENSOR(wide, numbers[3], n, 4);
  const kw_tensor_ref of_channel = TENSOR(wide, numbers[3], channels);
  choose(outs, &out, &w, mask);
  const kw_value weight = mask == 5 ? test_none() : test_arg(&w), stats = test_arg(&of_channel);
  CHECK("native_group_norm_backward", outs, 3, test_arg(&g), test_arg(&x), test_arg(&number), test_arg(&number), weight,
        INT(n), INT(channels), INT(area), INT(4), INTS(1, 1, 1));
  for (int train = 0; train < 2; train++) {
    CHECK("native_batch_norm_backward", outs, 3, test_arg(&g), test_arg(&x), weight, stats, stats, stats, stats,
          FLAG(train), FLOAT(1e-5), INTS(1, 1, 1));
  }
}

static void test_norm_backwards(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_BF16, KW_F16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const kw_dtype dtype = dtypes[d], wide = dtype == KW_F64 ? KW_F64 : KW_F32;
    for (uint32_t k = 0; k < 2; k++) fill(dtype, k, false);
    fill(dtype, 2, true);
    fill(wide, 3, true);
    for (int mask = 1; mask < 8; mask++) {
      check_layer_norms(dtype, wide, 5, 77, false, mask);
      check_layer_norms(dtype, wide, 3, 1100, mask % 2, mask);
      check_channel_norms(dtype, wide, 3, 12, 35, mask % 2, mask);
      check_channel_norms(dtype, wide, 9, 20, 1, false, mask);
    }
    check_layer_norms(dtype, wide, 2900, 45, false, 7); /* sums of weights in pieces */
    check_layer_norms(dtype, wide, 2900, 45, true, 7);
    check_channel_norms(dtype, wide, 2, 8, 8000, false, 7);
  }
}

/* ---- Losses ------------------------------------------------------------------------------------------------------ */

static void check_losses(kw_dtype dtype, int64_t rows, int64_t width) {
  const kw_tensor_ref self = TENSOR(dtype, numbers[0], rows, width), row = TENSOR(dtype, numbers[2], width);
  const kw_tensor_ref target = transposed(TENSOR(dtype, numbers[1], width, rows), 0, 1);
  kw_tensor_ref turned = target;
  turned.shape[0] = rows;
  turned.shape[1] = width;
  for (int reduction = 0; reduction < 3; reduction++) {
    const kw_tensor_ref whole = TENSOR(dtype, NULL, rows, width), one = TENSOR(dtype, NULL, 1);
    const kw_tensor_ref *out = reduction == 0 ? &whole : &one;
    CHECK("mse_loss", out, 1, test_arg(&self), test_arg(&turned), INT(reduction));
    CHECK("huber_loss", out, 1, test_arg(&self), test_arg(&row), INT(reduction), FLOAT(0.5));
    CHECK("binary_cross_entropy_with_logits", out, 1, test_arg(&self), test_arg(&turned), test_arg(&row), test_none(),
          INT(reduction));
    CHECK("mse_loss_backward", &whole, 1, test_arg(&row), test_arg(&self), test_arg(&turned), INT(reduction));
  }
}

static void test_losses(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_BF16, KW_F16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (uint32_t k = 0; k < 3; k++) fill(dtypes[d], k, k > 0);
    check_losses(dtypes[d], 3, 7);
    check_losses(dtypes[d], 3, 1500);
    if (dtypes[d] != KW_F16) check_losses(dtypes[d], 300, 301); /* in pieces; the sum is beyond f16 */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_norm_backwards),
      cmocka_unit_test(test_losses),
  };
  const char *why;
  if (!kw_fast_choose(&why)) return 0; /* the environment wants no fast kernels */
  return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#define RESULTS 4

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

static uint32_t threads;

static kw_status count_threads(void *context, uint32_t *out_count) {
  (void)context;
  *out_count = threads;
  return KW_OK;
}

/* Runs an op with results of these shapes, those without rank left out, and compares: with one thread, and with more
 * than there is work for. */
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
    threads = p % 2 == 1 ? 1 : 1000;
    assert_int_equal(test_fast_call_on(&call, pieces[p - 1], count_threads), KW_OK);
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
    check_layer_norms(dtype, wide, 11, 600, false, 7); /* and by strips of columns */
    check_layer_norms(dtype, wide, 140, 600, false, 7);
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

/* ---- Pools ------------------------------------------------------------------------------------------------------- */

/* Maxima, whose places are a second result. */
static void check_maxima(const char *op, kw_dtype dtype, const kw_tensor_ref *outs, const kw_value *args,
                         uint32_t arg_count) {
  check(op, outs, 2, args, arg_count);
  for (int64_t i = 0; i < outs[1].numel; i++) {
    if (kw_number_load_int(KW_I64, expected[1] + i * 8) != kw_number_load_int(KW_I64, got[1] + i * 8)) {
      fail_msg("%s, dtype %d: place %lld", op, dtype, (long long)i);
    }
  }
}

static void check_pools(kw_dtype dtype, bool channels_last) {
  kw_tensor_ref in = TENSOR(dtype, numbers[0], 2, 3, 13, 40), deep = TENSOR(dtype, numbers[0], 2, 5, 7, 9);
  if (channels_last) {
    static const int64_t strides[] = {3 * 13 * 40, 1, 40 * 3, 3};
    memcpy(in.strides, strides, sizeof strides);
  }
  const kw_value self = test_arg(&in), cube = test_arg(&deep);
  const kw_tensor_ref slid[] = {TENSOR(dtype, NULL, 2, 3, 7, 14), TENSOR(KW_I64, NULL, 2, 3, 7, 14)};
  const kw_tensor_ref ceiled = TENSOR(dtype, NULL, 2, 3, 6, 21),
                      even[] = {TENSOR(dtype, NULL, 2, 3, 5, 7), TENSOR(KW_I64, NULL, 2, 3, 5, 7)};
  const kw_tensor_ref deeper[] = {TENSOR(dtype, NULL, 2, 3, 4, 5), TENSOR(KW_I64, NULL, 2, 3, 4, 5)};
  CHECK("avg_pool2d", slid, 1, self, INTS(3, 2), INTS(2, 3), INTS(1, 1), FLAG(false), FLAG(true), test_none());
  CHECK("avg_pool2d", &ceiled, 1, self, INTS(4), INTS(2), INTS(0, 2), FLAG(true), FLAG(false), test_none());
  CHECK("avg_pool2d", slid, 1, self, INTS(3, 2), INTS(2, 3), INTS(1, 1), FLAG(false), FLAG(true), INT(7));
  CHECK("_adaptive_avg_pool2d", even, 1, self, INTS(5, 7));
  CHECK("avg_pool3d", deeper, 1, cube, INTS(2), ints(NULL, 0), INTS(1), FLAG(false), FLAG(true), test_none());
  const kw_value maximum[] = {self, INTS(3, 2), INTS(2, 3), INTS(1, 1), INTS(1), FLAG(false)};
  const kw_value apart[] = {self, INTS(2, 3), INTS(2, 3), INTS(1, 1), INTS(2, 1), FLAG(false)};
  const kw_value adaptive[] = {self, INTS(5, 7)};
  const kw_value three[] = {cube, INTS(2), ints(NULL, 0), INTS(1), INTS(1), FLAG(false)};
  check_maxima("max_pool2d_with_indices", dtype, slid, maximum, 6);
  check_maxima("max_pool2d_with_indices", dtype, slid, apart, 6);
  check_maxima("adaptive_max_pool2d", dtype, even, adaptive, 2);
  check_maxima("max_pool3d_with_indices", dtype, deeper, three, 6);
}

static void test_pools(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_BF16, KW_F16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    fill(dtypes[d], 0, false);
    for (int64_t i = 11; i < MOST; i++) { /* NaN wins, and of two the later one */
      if (i % 97 > 1 && i % 97 != 40) continue;
      kw_number_store(dtypes[d], numbers[0] + i * (int64_t)kw_number_size(dtypes[d]), (double)NAN);
    }
    for (int last = 0; last < 2; last++) check_pools(dtypes[d], last);
  }
}

/* One row seen 2^32 times: more than numbers of rows of 32 bits, which averages have no use for. */
static void test_average_of_many_rows(void **state) {
  (void)state;
  enum { MANY = 65536 };
  const kw_tensor_ref out = TENSOR(KW_F32, NULL, 1, 1, 2, 2, 1);
  kw_tensor_ref in = TENSOR(KW_F32, numbers[0], 1, 1, MANY, MANY, 2);
  fill(KW_F32, 0, false);
  in.strides[2] = in.strides[3] = 0;
  CHECK("avg_pool3d", &out, 1, test_arg(&in), INTS(1, 1, 2), INTS(MANY - 1, MANY - 1, 1), INTS(0), FLAG(false),
        FLAG(true), test_none());
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

#define ENTRIES 3 /* one of them of several blocks, one whose columns are dense */
#define LISTS 5
#define TURNED 2

/* Runs an op in place on lists of tensors, by the reference or in pieces, from the same numbers each time. */
static void run_lists(const char *op, kw_dtype dtype, uint32_t lists, kw_value *args, uint32_t arg_count,
                      const kw_tensor_ref *out, int64_t piece, char *memory) {
  static const int64_t shapes[ENTRIES][2] = {{5, 1}, {200, 171}, {30, 11}};
  static kw_tensor_ref tensors[LISTS][ENTRIES];
  static const kw_tensor_ref *entries[LISTS][ENTRIES];
  const kw_tensor_ref *outs[] = {out};
  char *at = memory;
  for (uint32_t j = 0; j < lists; j++) {
    for (uint32_t k = 0; k < ENTRIES; k++) {
      tensors[j][k] = test_tensor(dtype, at, 2, shapes[k]);
      if (k == TURNED) {
        tensors[j][k].strides[0] = 1;
        tensors[j][k].strides[1] = shapes[k][0];
      }
      const int64_t bytes = tensors[j][k].numel * (int64_t)kw_number_size(dtype);
      memcpy(at, numbers[j % ARGUMENTS], (size_t)bytes);
      at += bytes;
      entries[j][k] = &tensors[j][k];
    }
    args[j] = test_list(entries[j], ENTRIES);
  }
  kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .op = op, .args = args, .outs = outs};
  call.out_count = out != NULL;
  assert_int_equal(piece == 0 ? test_call(dtype == KW_F64 ? kw_reference_f64 : kw_reference_f32, &call)
                              : test_fast_call(&call, piece),
                   KW_OK);
}

static void check_lists(const char *op, kw_dtype dtype, uint32_t lists, kw_value *args, uint32_t arg_count) {
  static const int64_t pieces[] = {1, 2, INT64_C(1) << 40};
  static char wanted[LISTS * 35000 * 8], is[LISTS * 35000 * 8], before[LISTS * 35000 * 8];
  const int64_t size = (int64_t)kw_number_size(dtype);
  double results[2] = {0, 0};
  const bool clips = args[1].tag == KW_TAG_FLOAT; /* the only op with a result */
  const kw_dtype wide = dtype == KW_F64 ? KW_F64 : KW_F32;
  kw_tensor_ref out = RANK0(wide, &results[0]);
  memset(wanted, 0, sizeof wanted);
  run_lists(op, dtype, lists, args, arg_count, clips ? &out : NULL, 0, wanted);
  out.mem = &results[1];
  for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
    memset(is, 0, sizeof is);
    run_lists(op, dtype, lists, args, arg_count, clips ? &out : NULL, pieces[p], is);
    if (p > 0 && memcmp(before, is, sizeof is) != 0) fail_msg("%s, dtype %d: other bits in pieces", op, dtype);
    memcpy(before, is, sizeof is);
  }
  const double norm = kw_number_load(wide, &results[0]), near = kw_number_load(wide, &results[1]);
  if (clips && !(fabs(near - norm) <= 1e-5 * norm)) fail_msg("%s: %.9g, not %.9g", op, near, norm);
  for (size_t i = 0; i < sizeof wanted / (size_t)size; i++) {
    const double a = kw_number_load(dtype, wanted + (int64_t)i * size);
    const double b = kw_number_load(dtype, is + (int64_t)i * size);
    if (!(fabs(a - b) <= (dtype == KW_BF16 ? 0.02 : 1e-5) * (1 + fabs(a)))) {
      fail_msg("%s, dtype %d: element %zu is %.9g, not %.9g", op, dtype, i, b, a);
    }
  }
}

static void test_lists(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_BF16, KW_F32, KW_F64};
  float steps = 3, scale = 4, found = 0;
  const kw_tensor_ref step = RANK0(KW_F32, &steps), by = RANK0(KW_F32, &scale), flag = RANK0(KW_F32, &found);
  const kw_tensor_ref *const count[ENTRIES] = {&step, &step, &step};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (uint32_t k = 0; k < ARGUMENTS; k++) fill(dtypes[d], k, k > 1);
    for (uint32_t form = 0; form < 32; form++) {
      const bool a = form & 1, b = form & 2, c = form & 4;
      const kw_value scaled = form & 8 ? test_arg(&by) : test_none(), some = form & 16 ? FLOAT(0.9) : FLOAT(0);
      kw_value sgd[12] = {[3] = some, some, FLOAT(0.1), FLOAT(0.3), FLAG(a), FLAG(b), FLAG(c), scaled, test_arg(&flag)};
      kw_value adam[15] = {[5] = test_list(count, ENTRIES),
                           FLOAT(0.1),
                           FLOAT(0.9),
                           FLOAT(0.99),
                           some,
                           FLOAT(1e-6),
                           FLAG(a),
                           FLAG(b),
                           scaled,
                           test_arg(&flag)};
      found = form == 31;
      check_lists("_fused_sgd_", dtypes[d], 3, sgd, 12);
      check_lists(c ? "_fused_adam_" : "_fused_adamw_", dtypes[d], 5, adam, 15);
    }
    for (uint32_t form = 0; form < 4; form++) {
      kw_value clip[3] = {[1] = FLOAT(form == 3 ? 1e9 : 2), FLOAT(form == 0 ? 1 : form == 1 ? INFINITY : 2)};
      check_lists("keyway::clip_grad_norm_", dtypes[d], 1, clip, 3);
    }
    kw_value unscale[3] = {[1] = test_arg(&flag), test_arg(&by)};
    found = 0;
    check_lists("_amp_foreach_non_finite_check_and_unscale_", dtypes[d], 1, unscale, 3);
    assert_true(found == 0);
  }
}

/* What is not finite is found in whatever block it is. */
static void test_not_finite(void **state) {
  (void)state;
  static float x[40000];
  for (int k = 0; k < 3; k++) {
    float found = 0, factor = 0.5;
    const kw_tensor_ref self = TENSOR(KW_F32, x, 40000), flag = RANK0(KW_F32, &found), by = RANK0(KW_F32, &factor);
    const kw_value args[] = {test_list((const kw_tensor_ref *[]){&self}, 1), test_arg(&flag), test_arg(&by)};
    const kw_call call = {
        .struct_size = sizeof call, .arg_count = 3, .op = "_amp_foreach_non_finite_check_and_unscale_", .args = args};
    x[39999] = k == 0 ? 1 : k == 1 ? NAN : -INFINITY;
    assert_int_equal(test_fast_call(&call, 1), KW_OK);
    assert_true(found == (k > 0));
    assert_true(k != 0 || x[39999] == 0.5);
  }
}

/* ---- Scans ------------------------------------------------------------------------------------------------------- */

static void check_scans(kw_dtype dtype, kw_dtype sum_dtype, const int64_t *shape) {
  const kw_tensor_ref in = test_tensor(dtype, numbers[0], 3, shape);
  const kw_tensor_ref ways[] = {in, transposed(in, 0, 2)};
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
    kw_tensor_ref x = ways[way];
    if (way > 0) { /* the shape follows the strides */
      x.shape[0] = in.shape[2];
      x.shape[2] = in.shape[0];
    }
    const kw_tensor_ref out = test_tensor(sum_dtype, NULL, 3, x.shape);
    for (int64_t dim = 0; dim < 3; dim++) {
      CHECK("cumsum", &out, 1, test_arg(&x), INT(dim), test_none());
      CHECK("cumprod", &out, 1, test_arg(&x), INT(dim), test_none());
    }
  }
}

static void test_scans(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{5, 3, 9}, {2, 1100, 3}, {3, 7, 700}};
  static const kw_dtype dtypes[] = {KW_BF16, KW_F32, KW_F64, KW_I8};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const bool whole = kw_number_is_integer(dtypes[d]);
    if (whole) memset(numbers[0], 3, sizeof numbers[0]);
    if (!whole) fill(dtypes[d], 0, false);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      check_scans(dtypes[d], whole ? KW_I64 : dtypes[d], shapes[s]);
    }
  }
}

/* ---- Variances, few and many, of few elements and many ----------------------------------------------------------- */

static void test_variances(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{5, 3, 9}, {2, 1100, 3}, {2, 65536, 1}};
  static const kw_dtype dtypes[] = {KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    fill(dtypes[d], 0, true);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      const kw_tensor_ref in = test_tensor(dtypes[d], numbers[0], 3, shapes[s]);
      for (int64_t dim = 0; dim < 3; dim++) {
        kw_tensor_ref kept = in;
        kept.shape[dim] = 1;
        kept = test_tensor(dtypes[d], NULL, 3, kept.shape);
        const kw_tensor_ref both[] = {kept, kept}, all[] = {TENSOR(dtypes[d], NULL, 1, 1, 1)};
        CHECK("var_mean.correction", both, 2, test_arg(&in), INTS(dim), test_none(), FLAG(true));
        CHECK("var.correction", both, 1, test_arg(&in), INTS(dim), test_float(0.5), FLAG(true));
        CHECK("var.correction", all, 1, test_arg(&in), test_none(), test_int(0), FLAG(true));
      }
    }
  }
}

/* ---- Bags -------------------------------------------------------------------------------------------------------- */

/* Bags of 0, 1, 16 and 17 rows and one of all that are left, more columns than are made at once, with padding or not.
 */
static void check_bags(kw_dtype dtype, int64_t mode, bool is_scaled) {
  static int64_t indices[300];
  static const int32_t offsets[] = {0, 0, 1, 17, 17, 34};
  const int64_t rows = 100, columns = 260, count = sizeof indices / sizeof *indices;
  for (int64_t i = 0; i < count; i++) indices[i] = i * i % rows;
  const kw_tensor_ref table = TENSOR(dtype, numbers[0], rows, columns), scales = TENSOR(dtype, numbers[1], count);
  const kw_tensor_ref which = TENSOR(KW_I64, indices, count), starts = TENSOR(KW_I32, offsets, 6);
  const kw_tensor_ref sums = TENSOR(dtype, NULL, 6, columns), sizes = TENSOR(KW_I64, NULL, 6);
  kw_tensor_ref outs[] = {sums, which, sizes, mode == 2 ? sums : sizes};
  outs[3].dtype = KW_I64;
  for (int64_t padding = -1; padding < 17; padding += 17) {
    CHECK("_embedding_bag", outs, 4, test_arg(&table), test_arg(&which), test_arg(&starts), FLAG(false), INT(mode),
          FLAG(false), is_scaled ? test_arg(&scales) : test_none(), FLAG(false), INT(padding));
  }
}

/* Roundings of equal terms do not cancel: a sum in one lane would be far off. */
static void check_long_bag(kw_dtype dtype, int64_t mode, bool is_scaled) {
  static int64_t indices[MOST], offset;
  for (int64_t i = 0; i < MOST; i++) {
    kw_number_store(dtype, numbers[0] + i * (int64_t)kw_number_size(dtype), 0.1);
    kw_number_store(dtype, numbers[1] + i * (int64_t)kw_number_size(dtype), 1.1);
  }
  const kw_tensor_ref table = TENSOR(dtype, numbers[0], 1, 3), scales = TENSOR(dtype, numbers[1], MOST);
  const kw_tensor_ref which = TENSOR(KW_I64, indices, MOST), starts = TENSOR(KW_I64, &offset, 1);
  const kw_tensor_ref outs[] = {TENSOR(dtype, NULL, 1, 3), which, starts, starts};
  CHECK("_embedding_bag", outs, 4, test_arg(&table), test_arg(&which), test_arg(&starts), FLAG(false), INT(mode),
        FLAG(false), is_scaled ? test_arg(&scales) : test_none(), FLAG(false), INT(-1));
}

static void test_bags(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (int64_t mode = 0; mode < 3; mode++) {
      fill(dtypes[d], 0, false);
      fill(dtypes[d], 1, true);
      check_bags(dtypes[d], mode, false);
      if (mode == 0) check_bags(dtypes[d], mode, true);
      if (mode < 2) check_long_bag(dtypes[d], mode, false);
      if (mode == 0) check_long_bag(dtypes[d], mode, true);
    }
  }
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

/* More channels than are weighed or added up at once, and places that are many, or few beside the image. */
static void check_grids(kw_dtype dtype, int64_t mode, int64_t height, int64_t width) {
  const int64_t down = 8, across = 7, channels = 70;
  const kw_tensor_ref image = TENSOR(dtype, numbers[0], 2, channels, height, width);
  const kw_tensor_ref grid = TENSOR(dtype, numbers[1], 2, down, across, 2);
  const kw_tensor_ref grad = TENSOR(dtype, numbers[2], 2, channels, down, across);
  const kw_tensor_ref results[] = {image, grid};
  kw_tensor_ref turned = grad; /* columns lie in memory as rows do there */
  turned.strides[2] = 1;
  turned.strides[3] = down;
  CHECK("grid_sampler_2d", &grad, 1, test_arg(&image), test_arg(&grid), INT(mode), INT(0), FLAG(false));
  CHECK("grid_sampler_2d", &turned, 1, test_arg(&image), test_arg(&grid), INT(mode), INT(0), FLAG(false));
  for (int rows = 0; rows < 2; rows++) {
    CHECK("grid_sampler_2d_backward", results, 2, test_arg(rows ? &turned : &grad), test_arg(&image), test_arg(&grid),
          INT(mode), INT(0), FLAG(false), INTS(1, 1));
  }
}

static void test_grids(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (uint32_t k = 0; k < 3; k++) fill(dtypes[d], k, false);
    for (int64_t mode = 0; mode < 3; mode++) {
      check_grids(dtypes[d], mode, 9, 11);
      check_grids(dtypes[d], mode, 30, 29);
    }
  }
}

/* ---- Backwards of pads and upsampling ---------------------------------------------------------------------------- */

static void check_mapped(kw_dtype dtype) {
  const kw_tensor_ref out = TENSOR(dtype, NULL, 2, 3, 5, 7), padded = TENSOR(dtype, numbers[0], 2, 3, 9, 12);
  const kw_tensor_ref mirrored = TENSOR(dtype, numbers[0], 2, 3, 12, 12);
  const kw_tensor_ref rows = TENSOR(dtype, numbers[0], 2, 3, 10, 14), uneven = TENSOR(dtype, numbers[0], 2, 3, 3, 40);
  const kw_tensor_ref in = TENSOR(dtype, numbers[1], 2, 3, 5, 7);
  const kw_value self = test_arg(&in);
  CHECK("replication_pad2d_backward", &out, 1, test_arg(&padded), self, INTS(2, 3, 4, 0));
  CHECK("reflection_pad2d_backward", &out, 1, test_arg(&mirrored), self, INTS(1, 4, 3, 4));
  CHECK("upsample_nearest2d_backward", &out, 1, test_arg(&rows), INTS(10, 14), INTS(2, 3, 5, 7), test_none(),
        test_none());
  CHECK("upsample_nearest2d_backward", &out, 1, test_arg(&uneven), INTS(3, 40), INTS(2, 3, 5, 7), test_none(),
        test_none());
  CHECK("upsample_bilinear2d_backward", &out, 1, test_arg(&uneven), INTS(3, 40), INTS(2, 3, 5, 7), FLAG(false),
        test_none(), test_none());
}

/* Where many places show one element, what is added last still counts beside what was first. */
static void check_wide_pad(void) {
  const int64_t pad = 30000;
  const kw_tensor_ref out = TENSOR(KW_F32, NULL, 1, 3), grad = TENSOR(KW_F32, numbers[0], 1, 3 + pad);
  const kw_tensor_ref in = TENSOR(KW_F32, numbers[1], 1, 3);
  float *terms = (float *)(void *)numbers[0];
  for (int64_t i = 0; i < 3 + pad; i++) terms[i] = i == 0 ? 0x1p24f : 1;
  CHECK("replication_pad1d_backward", &out, 1, test_arg(&grad), test_arg(&in), INTS(pad, 0));
}

static void test_mapped(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    fill(dtypes[d], 0, false);
    check_mapped(dtypes[d]);
  }
  check_wide_pad();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_norm_backwards), cmocka_unit_test(test_losses),
      cmocka_unit_test(test_pools),          cmocka_unit_test(test_average_of_many_rows),
      cmocka_unit_test(test_lists),          cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_scans),          cmocka_unit_test(test_variances),
      cmocka_unit_test(test_bags),           cmocka_unit_test(test_grids),
      cmocka_unit_test(test_mapped),
  };
  const char *why;
  if (!kw_fast_choose(&why)) return 0; /* the environment wants no fast kernels */
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers checked by hand, among them what the op pages say about boxes without area and about thresholds that are met.
 */
#include "test_call.h"

#include <math.h>

static float result[32];

static void expect(const float *wanted, size_t count, int line) {
  for (size_t i = 0; i < count; i++) {
    if (!(fabsf(result[i] - wanted[i]) <= 1e-6f) && !(isnan(result[i]) && isnan(wanted[i])))
      fail_msg("line %d: element %zu is %g, not %g", line, i, (double)result[i], (double)wanted[i]);
  }
}
#define EXPECT(...) expect((const float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float), __LINE__)

/* ---- Boxes against each other ------------------------------------------------------------------------------------ */

typedef struct pair_row {
  float a[4], b[4], iou, giou;
} pair_row;

static const pair_row pairs[] = {
    {{0, 0, 2, 2}, {1, 1, 3, 3}, 1.0f / 7, 1.0f / 7 - 2.0f / 9},
    {{0, 0, 2, 2}, {0, 0, 2, 2}, 1, 1},
    {{0, 0, 4, 2}, {1, 0, 3, 2}, 0.5f, 0.5f},
    {{0, 0, 1, 1}, {3, 0, 4, 1}, 0, -0.5f},   /* apart: half of the hull is empty */
    {{1, 1, 1, 1}, {1, 1, 1, 1}, 0, 0},       /* one point */
    {{1, 1, 1, 1}, {3, 4, 3, 4}, 0, -1},      /* two points: all of the hull is empty */
    {{0, 1, 5, 1}, {2, 1, 7, 1}, 0, 0},       /* two lines in one */
    {{0, 0, 2, 2}, {1, 1, 1, 1}, 0, 0},       /* a point in a box */
    {{2, 2, 0, 0}, {0, 0, 2, 2}, 0, 0},       /* corners the wrong way round: no area */
    {{0, 0, 2, 2}, {0, NAN, 2, 2}, NAN, NAN}, /* a NaN, though nothing may be shared */
    {{0, 0, 2, 2}, {5, NAN, 6, 2}, NAN, NAN},
    {{0, 0, INFINITY, 2}, {0, 0, 2, 2}, 0, NAN},
    {{0, 0, INFINITY, 2}, {0, 0, INFINITY, 2}, NAN, NAN},
};

static void pairs_as_the_pages_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    const kw_tensor_ref a = TENSOR(KW_F32, pairs[i].a, 1, 4), b = TENSOR(KW_F32, pairs[i].b, 1, 4);
    const kw_tensor_ref out = TENSOR(KW_F32, result, 1, 1);
    for (int turned = 0; turned < 2; turned++) {
      const kw_value first = test_arg(turned ? &b : &a), second = test_arg(turned ? &a : &b);
      RUN(kw_reference_f32, "keyway::box_iou", &out, first, second);
      EXPECT(pairs[i].iou);
      RUN(kw_reference_f32, "keyway::generalized_box_iou", &out, first, second);
      EXPECT(pairs[i].giou);
    }
  }
}

static void rows_against_columns(void **state) {
  (void)state;
  const float one[] = {0, 0, 2, 2, 0, 0, 4, 4}, other[] = {0, 0, 2, 4, 2, 2, 4, 4, 9, 9, 9, 9};
  const kw_tensor_ref a = TENSOR(KW_F32, one, 2, 4), b = TENSOR(KW_F32, other, 3, 4),
                      out = TENSOR(KW_F32, result, 2, 3);
  RUN(kw_reference_f32, "keyway::box_iou", &out, test_arg(&a), test_arg(&b));
  EXPECT(0.5f, 0, 0, 0.5f, 0.25f, 0);
  const kw_tensor_ref ints = TENSOR(KW_I32, one, 2, 4);
  assert_int_equal(TRY(kw_reference_f32, "keyway::box_iou", &out, test_arg(&ints), test_arg(&b)),
                   KW_ERR_INVALID_ARGUMENT);
}

/* ---- Suppression ------------------------------------------------------------------------------------------------- */

typedef struct nms_row {
  int64_t n;
  float boxes[4][4], scores[4];
  double threshold;
  int64_t count, kept[4];
} nms_row;

static const nms_row suppressions[] = {
    {3, {{0, 0, 4, 4}, {0, 0, 4, 3}, {9, 9, 12, 12}}, {0.5f, 0.9f, 0.1f}, 0.5, 2, {1, 2}},
    {2, {{0, 0, 4, 2}, {1, 0, 3, 2}}, {2, 1}, 0.5, 2, {0, 1}},  /* IoU equal to the threshold: stays */
    {2, {{0, 0, 4, 2}, {1, 0, 3, 2}}, {2, 1}, 0.49, 1, {0}},    /* above: goes */
    {2, {{0, 0, 4, 2}, {0, 0, 4, 2}}, {1, 1}, 1, 2, {0, 1}},    /* 1 is not above 1 */
    {2, {{0, 0, 4, 2}, {0, 0, 4, 2}}, {-0.0f, 0}, 0.5, 1, {0}}, /* of equal scores the lower index */
    {2, {{1, 1, 1, 1}, {1, 1, 1, 1}}, {1, 2}, 0, 2, {1, 0}},    /* no area: IoU 0 */
    {2, {{1, 1, 1, 1}, {1, 1, 1, 1}}, {1, 2}, -0.5, 1, {1}},    /* which is above a negative threshold */
    {2, {{0, 0, 4, 4}, {1, 1, 1, 3}}, {1, 2}, 0, 2, {1, 0}},    /* a line in a box */
    {3, {{0, 0, 4, 4}, {0, 0, 4, 4}, {0, 0, 4, 4}}, {5, NAN, INFINITY}, 0.5, 1, {1}}, /* NaN is the greatest score */
    {2, {{0, 0, 4, 4}, {0, 0, NAN, 4}}, {1, 2}, -1, 2, {1, 0}}, /* a NaN among corners suppresses nothing, and stays */
    /* the second goes and takes nothing with it: the third stays though they overlap */
    {3, {{0, 0, 4, 1}, {1, 0, 5, 1}, {2, 0, 6, 1}}, {3, 2, 1}, 0.5, 2, {0, 2}},
    {0, {{0}}, {0}, 0.5, 0, {0}},
};

static void suppressions_as_the_page_says(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof suppressions / sizeof suppressions[0]; i++) {
    const nms_row *row = &suppressions[i];
    int64_t kept[4] = {-7, -7, -7, -7}, count = -1;
    const kw_tensor_ref dets = TENSOR(KW_F32, row->boxes, row->n, 4), scores = TENSOR(KW_F32, row->scores, row->n);
    const kw_tensor_ref out = TENSOR(KW_I64, kept, row->n), counter = RANK0(KW_I64, &count);
    const kw_tensor_ref *outs[] = {&out, &counter};
    const kw_value args[] = {test_arg(&dets), test_arg(&scores), {.tag = KW_TAG_FLOAT, .u.f = row->threshold}};
    const kw_call call = {.struct_size = sizeof call,
                          .arg_count = 3,
                          .out_count = 2,
                          .op = "torchvision::nms",
                          .args = args,
                          .outs = outs};
    assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
    if (count != row->count) fail_msg("row %zu: %lld stay, not %lld", i, (long long)count, (long long)row->count);
    for (int64_t k = 0; k < 4; k++) {
      const int64_t wanted = k < count ? row->kept[k] : -7; /* nothing is written behind the last */
      if (kept[k] != wanted) fail_msg("row %zu: number %lld is %lld", i, (long long)k, (long long)kept[k]);
    }
  }
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

#define FLOAT_ARG(number) ((kw_value){.tag = KW_TAG_FLOAT, .u.f = number})
#define INT_ARG(number) ((kw_value){.tag = KW_TAG_INT, .u.i = number})
#define BOOL_ARG(yes) ((kw_value){.tag = KW_TAG_BOOL, .u.b = yes})

/* A slope: element (y, x) is 10 y + x. */
static void fill_slope(float *to, int64_t h, int64_t w) {
  for (int64_t i = 0; i < h * w; i++) to[i] = (float)(i / w * 10 + i % w);
}

static void align(const float *rois, int64_t count, double scale, int64_t h, int64_t w, int64_t ratio, bool aligned) {
  float images[2][6 * 8];
  fill_slope(images[0], 6, 8);
  for (int i = 0; i < 48; i++) images[1][i] = -images[0][i];
  const kw_tensor_ref input = TENSOR(KW_F32, images, 2, 1, 6, 8), regions = TENSOR(KW_F32, rois, count, 5);
  const kw_tensor_ref out = TENSOR(KW_F32, result, count, 1, h, w);
  RUN(kw_reference_f32, "torchvision::roi_align", &out, test_arg(&input), test_arg(&regions), FLOAT_ARG(scale),
      INT_ARG(h), INT_ARG(w), INT_ARG(ratio), BOOL_ARG(aligned));
}

static void regions_of_a_slope(void **state) {
  (void)state;
  /* The mean over a bin of a slope is its value in the middle. */
  align((float[]){0, 1, 1, 5, 3}, 1, 1, 1, 2, 2, false);
  EXPECT(22, 24);
  align((float[]){0, 1, 1, 5, 3}, 1, 1, 1, 2, 2, true);
  EXPECT(16.5f, 18.5f);
  align((float[]){1, 2, 2, 10, 6}, 1, 0.5, 1, 2, 0, false);
  EXPECT(-22, -24);
  align((float[]){1.9f, 1, 1, 5, 3, -0.5f, 1, 1, 5, 3}, 2, 1, 1, 1, 3, false); /* numbers of images are cut */
  EXPECT(-23, 23);
  align((float[]){0, 2, 2, 2, 2}, 1, 1, 1, 1, 1, false); /* a side of 1 at least */
  EXPECT(27.5f);
  align((float[]){0, 2, 2, 2, 2}, 1, 1, 1, 1, 1, true);
  EXPECT(16.5f);
  align((float[]){0, 2, 2, 2, 2, 0, 5, 4, 2, 1}, 2, 1, 1, 1, 0, true); /* nothing to take samples from */
  EXPECT(0, 0);
}

static void samples_outside(void **state) {
  (void)state;
  /* One sample at (x, y) = (1, y): on the border up to 1 outside, that included, then 0. */
  align((float[]){0, 1, -1, 1, -1, 0, 1, 6, 1, 6, 0, 1, -1.25f, 1, -1.25f, 0, 1, 6.25f, 1, 6.25f}, 4, 1, 1, 1, 1,
        false);
  EXPECT(1.5f, 0, 1.5f, 0); /* without `aligned` in the middle of a side of 1: y is -1/2, 6.5, -3/4, 6.75 */
  align((float[]){0, 1.5f, -0.5f, 1.5f, -0.5f, 0, 1.5f, 6.5f, 1.5f, 6.5f, 0, 1.5f, -0.75f, 1.5f, -0.75f}, 3, 1, 1, 1, 1,
        true);
  EXPECT(1, 51, 0); /* y is -1, 6, -5/4 */
}

static void wrong_regions_are_told(void **state) {
  (void)state;
  const float rows[][5] = {{2, 0, 0, 1, 1},   {-1, 0, 0, 1, 1},       {NAN, 0, 0, 1, 1},
                           {0, NAN, 0, 1, 1}, {0, 0, 0, INFINITY, 1}, {0, 0, 0, 1e30f, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint32_t error = 0;
    test_error = &error;
    align(rows[i], 1, 1, 1, 1, 0, false);
    test_error = NULL;
    if (error != TEST_ERROR_CODE + 1) fail_msg("row %zu: the error word is %#x", i, error);
  }
}

static void gradients_spread(void **state) {
  (void)state;
  const float grad[] = {4, 8}, rois[] = {0, 1, 0, 3, 1};
  const kw_tensor_ref g = TENSOR(KW_F32, grad, 1, 1, 1, 2), regions = TENSOR(KW_F32, rois, 1, 5);
  const kw_tensor_ref out = TENSOR(KW_F32, result, 2, 1, 2, 4);
  /* Bins [1, 2) and [2, 3) of one sample each, at (1.5, 0.5) and (2.5, 0.5): a quarter to each of four elements. */
  RUN(kw_reference_f32, "torchvision::_roi_align_backward", &out, test_arg(&g), test_arg(&regions), FLOAT_ARG(1),
      INT_ARG(1), INT_ARG(2), INT_ARG(2), INT_ARG(1), INT_ARG(2), INT_ARG(4), INT_ARG(1), BOOL_ARG(false));
  EXPECT(0, 1, 3, 2, 0, 1, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_as_the_pages_say),
      cmocka_unit_test(rows_against_columns),
      cmocka_unit_test(suppressions_as_the_page_says),
      cmocka_unit_test(regions_of_a_slope),
      cmocka_unit_test(samples_outside),
      cmocka_unit_test(wrong_regions_are_told),
      cmocka_unit_test(gradients_spread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

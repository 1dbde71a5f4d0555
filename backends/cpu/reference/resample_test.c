/* SPDX-License-Identifier: Apache-2.0
 *
 * Upsampling, grid_sampler_2d and their gradients, with numbers worked out by hand.
 */
#include "test_call.h"

#include <math.h>

#define LIST(...) test_ints((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static kw_value test_ints(const int64_t *ints, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = ints};
}

static kw_value test_bool(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

static kw_value test_plain_int(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static kw_value test_scale(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static void assert_floats(const float *got, const float *wanted, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (got[i] != wanted[i]) fail_msg("element %zu is %g, wanted %g", i, (double)got[i], (double)wanted[i]);
  }
}

static const float line[] = {1, 2, 4, 8};

/* ---- Upsampling -------------------------------------------------------------------------------------------------- */

static void nearest_takes_the_element_at_or_before(void **state) {
  (void)state;
  float got[8];
  kw_tensor_ref x = TENSOR(KW_F32, line, 1, 1, 3), six = TENSOR(KW_F32, got, 1, 1, 6),
                four = TENSOR(KW_F32, got, 1, 1, 4);
  RUN(kw_reference_f32, "upsample_nearest1d", &six, test_arg(&x), LIST(6), test_none());
  assert_floats(got, (float[]){1, 1, 2, 2, 4, 4}, 6);
  RUN(kw_reference_f32, "upsample_nearest1d", &four, test_arg(&x), LIST(4), test_none()); /* 0, 3/4, 6/4, 9/4 */
  assert_floats(got, (float[]){1, 1, 2, 4}, 4);
  RUN(kw_reference_f32, "upsample_nearest1d", &four, test_arg(&x), LIST(4),
      test_scale(0.75)); /* 0, 4/3, 8/3, the last */
  assert_floats(got, (float[]){1, 2, 4, 4}, 4);
}

static void nearest_exact_takes_the_element_around(void **state) {
  (void)state;
  float got[4];
  kw_tensor_ref x = TENSOR(KW_F32, line, 1, 1, 1, 4), y = TENSOR(KW_F32, got, 1, 1, 1, 3);
  RUN(kw_reference_f32, "_upsample_nearest_exact2d", &y, test_arg(&x), LIST(1, 3), test_none(), test_none());
  assert_floats(got, (float[]){1, 4, 8}, 3); /* 4/6, 12/6, 20/6 */
}

static void linear_blends_two(void **state) {
  (void)state;
  float got[4];
  kw_tensor_ref x = TENSOR(KW_F32, line, 1, 1, 2), y = TENSOR(KW_F32, got, 1, 1, 4),
                three = TENSOR(KW_F32, got, 1, 1, 3);
  RUN(kw_reference_f32, "upsample_linear1d", &y, test_arg(&x), LIST(4), test_bool(false), test_none());
  assert_floats(got, (float[]){1, 1.25f, 1.75f, 2}, 4);
  RUN(kw_reference_f32, "upsample_linear1d", &three, test_arg(&x), LIST(3), test_bool(true), test_none());
  assert_floats(got, (float[]){1, 1.5f, 2}, 3);
  RUN(kw_reference_f32, "upsample_linear1d", &three, test_arg(&x), LIST(3), test_bool(false), test_scale(4));
  assert_floats(got, (float[]){1, 1, 1.125f}, 3); /* at -3/8, -1/8, 1/8 */
}

static void linear_blends_in_all_dimensions(void **state) {
  (void)state;
  static const float corners[] = {0, 1, 2, 3, 4, 5, 6, 7};
  float got[27];
  kw_tensor_ref x = TENSOR(KW_F32, corners, 1, 1, 2, 2, 2), y = TENSOR(KW_F32, got, 1, 1, 3, 3, 3);
  RUN(kw_reference_f32, "upsample_trilinear3d", &y, test_arg(&x), LIST(3, 3, 3), test_bool(true), test_none(),
      test_none(), test_none());
  for (int i = 0; i < 27; i++) assert_true(got[i] == 2 * (i / 9) + 1 * (i / 3 % 3) + 0.5f * (float)(i % 3));
}

/* At 1/4 the weights of Keys' cubic with A = -3/4 are -27, 225, 67, -9 of 256. */
static void cubic_blends_four(void **state) {
  (void)state;
  float got[8];
  kw_tensor_ref x = TENSOR(KW_F32, line, 1, 1, 1, 4), y = TENSOR(KW_F32, got, 1, 1, 1, 8);
  RUN(kw_reference_f32, "upsample_bicubic2d", &y, test_arg(&x), LIST(1, 8), test_bool(false), test_none(), test_none());
  const float quarter = (-27 * 1 + 225 * 2 + 67 * 4 - 9 * 8) / 256.f; /* at 1.25 */
  const float first = (-9 * 1 + 67 * 1 + 225 * 1 - 27 * 2) / 256.f;   /* at -0.25: the first element is repeated */
  assert_true(got[3] == quarter && got[0] == first);
}

static void gradients_go_back_to_where_elements_came_from(void **state) {
  (void)state;
  static const float grads[] = {1, 10, 100, 1000};
  float got[2];
  kw_tensor_ref g = TENSOR(KW_F32, grads, 1, 1, 1, 4), gx = TENSOR(KW_F32, got, 1, 1, 1, 2);
  RUN(kw_reference_f32, "upsample_nearest2d_backward", &gx, test_arg(&g), LIST(1, 4), LIST(1, 1, 1, 2), test_none(),
      test_none());
  assert_floats(got, (float[]){11, 1100}, 2);
  RUN(kw_reference_f32, "upsample_bilinear2d_backward", &gx, test_arg(&g), LIST(1, 4), LIST(1, 1, 1, 2),
      test_bool(false), test_none(), test_none());
  assert_floats(got, (float[]){1 + 7.5f + 25, 2.5f + 75 + 1000}, 2);
}

/* A weight is off by the coordinate's doubt, 4 (coordinate + 1) eps; sums of one element by 12 eps of it. */
static void bounds_grow_with_the_coordinate(void **state) {
  (void)state;
  static const float far[] = {0, 0, 0, 0, 0, 0, 0, 1};
  float got[16];
  kw_tensor_ref x = TENSOR(KW_F32, far, 1, 1, 8), y = TENSOR(KW_F32, got, 1, 1, 16);
  RUN(kw_reference_f32, "upsample_linear1d/magnitude", &y, test_arg(&x), LIST(16), test_bool(false), test_none());
  assert_true(got[0] < 1e-30f);                               /* nothing of the last element is near */
  assert_true(got[11] > 4 * 6 && got[11] < 4 * 7 + 1);        /* at 5.25, next but one to it */
  assert_true(got[14] > 4 * 7 && got[14] < 2 * (4 * 9) + 12); /* at 6.75 */
}

/* ---- grid_sampler_2d --------------------------------------------------------------------------------------------- */

static const float image[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

/* Samples the 3 x 3 image at one place, x to the right and y down. */
static float sample_at(float x, float y, int64_t mode, int64_t padding, bool align) {
  const float at[] = {x, y};
  float got = -1;
  kw_tensor_ref in = TENSOR(KW_F32, image, 1, 1, 3, 3), grid = TENSOR(KW_F32, at, 1, 1, 1, 2);
  kw_tensor_ref out = TENSOR(KW_F32, &got, 1, 1, 1, 1);
  RUN(kw_reference_f32, "grid_sampler_2d", &out, test_arg(&in), test_arg(&grid), test_plain_int(mode),
      test_plain_int(padding), test_bool(align));
  return got;
}

static void grids_sample_between_elements(void **state) {
  (void)state;
  assert_true(sample_at(0, 0, 0, 0, false) == 5 && sample_at(0, 0, 1, 0, true) == 5 &&
              sample_at(0, 0, 2, 0, true) == 5);
  assert_true(sample_at(-1, -1, 0, 0, true) == 1);      /* the centre of the corner's element */
  assert_true(sample_at(-1, -1, 0, 0, false) == 0.25f); /* its corner: three of four neighbours are outside */
  assert_true(sample_at(0.5f, 0, 0, 0, true) == 5.5f && sample_at(0, 0.5f, 0, 0, true) == 6.5f);
  assert_true(sample_at(0.25f, 0, 1, 0, true) == 5 && sample_at(0.75f, 0, 1, 0, true) == 6);
  assert_true(sample_at(0.5f, -0.5f, 1, 0, true) == 3); /* 1.5 and 0.5: halves go to the even element */
}

static void grids_are_padded_outside(void **state) {
  (void)state;
  assert_true(sample_at(3, 0, 0, 0, true) == 0 && sample_at(3, 0, 1, 0, true) == 0);
  assert_true(sample_at(3, 0, 0, 1, true) == 6 && sample_at(3, -9, 1, 1, false) == 3);
  assert_true(sample_at(1.5f, 0, 0, 2, true) == 5.5f); /* 2.5 is mirrored to 1.5 */
  assert_true(sample_at(2, 0, 0, 2, false) == 5);      /* 4 is folded at 2.5 to 1 */
}

static void grids_take_anything(void **state) {
  (void)state;
  const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f};
  for (int i = 0; i < 5; i++) {
    for (int n = 0; n < 18; n++) sample_at(odd[i], 0, n % 3, n / 3 % 3, n / 9); /* reads nothing outside: sanitizers */
  }
  assert_true(sample_at(3e38f, 0, 0, 0, false) == 0 && sample_at(-3e38f, 0, 0, 1, false) == 4);
}

static void grids_have_gradients(void **state) {
  (void)state;
  const float at[] = {0.5f, -0.25f}, one[] = {2};
  float got[9], slopes[2];
  kw_tensor_ref in = TENSOR(KW_F32, image, 1, 1, 3, 3), grid = TENSOR(KW_F32, at, 1, 1, 1, 2);
  kw_tensor_ref grad = TENSOR(KW_F32, one, 1, 1, 1, 1), gx = TENSOR(KW_F32, got, 1, 1, 3, 3);
  kw_tensor_ref gg = TENSOR(KW_F32, slopes, 1, 1, 1, 2);
  const int64_t mask[] = {1, 1};
  const kw_value args[] = {test_arg(&grad),   test_arg(&in),   test_arg(&grid),   test_plain_int(0),
                           test_plain_int(0), test_bool(true), test_ints(mask, 2)};
  const kw_tensor_ref *outs[] = {&gx, &gg};
  const kw_call call = {.struct_size = sizeof call,
                        .arg_count = 7,
                        .out_count = 2,
                        .op = "grid_sampler_2d_backward",
                        .args = args,
                        .outs = outs};
  assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
  /* at (1.5, 0.75): halves of columns 1 and 2, a quarter of row 0, three quarters of row 1 */
  assert_floats(got, (float[]){0, 0.25f, 0.25f, 0, 0.75f, 0.75f, 0, 0, 0}, 9);
  assert_floats(slopes, (float[]){2 * 1, 2 * 3}, 2); /* a column is 1, a row 3; a unit of the grid is one element */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_takes_the_element_at_or_before),
      cmocka_unit_test(nearest_exact_takes_the_element_around),
      cmocka_unit_test(linear_blends_two),
      cmocka_unit_test(linear_blends_in_all_dimensions),
      cmocka_unit_test(cubic_blends_four),
      cmocka_unit_test(gradients_go_back_to_where_elements_came_from),
      cmocka_unit_test(bounds_grow_with_the_coordinate),
      cmocka_unit_test(grids_sample_between_elements),
      cmocka_unit_test(grids_are_padded_outside),
      cmocka_unit_test(grids_take_anything),
      cmocka_unit_test(grids_have_gradients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution, its gradients and columns, with numbers worked out by hand.
 */
#include "test_call.h"

#include <stdlib.h>

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

static void assert_floats(const float *got, const float *wanted, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (got[i] != wanted[i]) fail_msg("element %zu is %g, wanted %g", i, (double)got[i], (double)wanted[i]);
  }
}

static const float line[] = {1, 2, 3, 4}, pair[] = {1, 10}, triple[] = {1, 10, 100}, hundred[] = {100};

static void convolves_a_line(void **state) {
  (void)state;
  float got[3];
  kw_tensor_ref x = TENSOR(KW_F32, line, 1, 1, 4), w = TENSOR(KW_F32, pair, 1, 1, 2), b = TENSOR(KW_F32, hundred, 1);
  kw_tensor_ref all = TENSOR(KW_F32, got, 1, 1, 3), some = TENSOR(KW_F32, got, 1, 1, 2);
  RUN(kw_reference_f32, "convolution", &all, test_arg(&x), test_arg(&w), test_none(), LIST(1), LIST(0), LIST(1),
      test_bool(false), LIST(0), test_plain_int(1));
  assert_floats(got, (float[]){21, 32, 43}, 3);
  /* places 0 and 1 see elements -1 and 1, 1 and 3 */
  RUN(kw_reference_f32, "convolution", &some, test_arg(&x), test_arg(&w), test_arg(&b), LIST(2), LIST(1), LIST(2),
      test_bool(false), LIST(0), test_plain_int(1));
  assert_floats(got, (float[]){120, 142}, 2);
}

static void spreads_a_line_when_transposed(void **state) {
  (void)state;
  float got[6];
  kw_tensor_ref x = TENSOR(KW_F32, line, 1, 1, 3), w = TENSOR(KW_F32, triple, 1, 1, 3),
                y = TENSOR(KW_F32, got, 1, 1, 6);
  RUN(kw_reference_f32, "convolution", &y, test_arg(&x), test_arg(&w), test_none(), LIST(2), LIST(1), LIST(1),
      test_bool(true), LIST(1), test_plain_int(1));
  assert_floats(got, (float[]){10, 102, 20, 203, 30, 300}, 6);
}

static void keeps_groups_apart(void **state) {
  (void)state;
  static const float channels[] = {1, 2, 3, 4}, weight[] = {1, 10, 100, 1000};
  float got[4];
  kw_tensor_ref x = TENSOR(KW_F32, channels, 1, 4, 1), w = TENSOR(KW_F32, weight, 2, 2, 1);
  kw_tensor_ref y = TENSOR(KW_F32, got, 1, 2, 1);
  RUN(kw_reference_f32, "convolution", &y, test_arg(&x), test_arg(&w), test_none(), LIST(1), LIST(0), LIST(1),
      test_bool(false), LIST(0), test_plain_int(2));
  assert_floats(got, (float[]){21, 4300}, 2);
  kw_tensor_ref pairs = TENSOR(KW_F32, channels, 1, 2, 1), spread = TENSOR(KW_F32, got, 1, 4, 1);
  RUN(kw_reference_f32, "convolution", &spread, test_arg(&pairs), test_arg(&w), test_none(), LIST(1), LIST(0), LIST(1),
      test_bool(true), LIST(0), test_plain_int(2));
  assert_floats(got, (float[]){1, 10, 200, 2000}, 4);
}

static void convolves_planes_and_blocks(void **state) {
  (void)state;
  static const float plane[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, diagonal[] = {1, 0, 0, 1},
                     ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  float got[4];
  kw_tensor_ref x = TENSOR(KW_F32, plane, 1, 1, 3, 3), w = TENSOR(KW_F32, diagonal, 1, 1, 2, 2);
  kw_tensor_ref y = TENSOR(KW_F32, got, 1, 1, 2, 2);
  RUN(kw_reference_f32, "convolution", &y, test_arg(&x), test_arg(&w), test_none(), LIST(1, 1), LIST(0, 0), LIST(1, 1),
      test_bool(false), LIST(0, 0), test_plain_int(1));
  assert_floats(got, (float[]){6, 8, 12, 14}, 4);
  kw_tensor_ref block = TENSOR(KW_F32, plane, 1, 1, 2, 2, 2), cube = TENSOR(KW_F32, ones, 1, 1, 2, 2, 2);
  kw_tensor_ref point = TENSOR(KW_F32, got, 1, 1, 1, 1, 1);
  RUN(kw_reference_f32, "convolution", &point, test_arg(&block), test_arg(&cube), test_none(), LIST(1), LIST(0),
      LIST(1), test_bool(false), LIST(0), test_plain_int(1));
  assert_floats(got, (float[]){36}, 1);
}

/* [1, 3, 200, 200] with strides (120000, 1, 600, 3), in and out, is what it is densely. */
static void channels_last_is_a_matter_of_strides(void **state) {
  (void)state;
  enum { C = 3, S = 200, NUMEL = C * S * S };
  float *dense = malloc(NUMEL * sizeof *dense), *last = malloc(NUMEL * sizeof *last);
  float *got = malloc(NUMEL * sizeof *got), *got_last = malloc(NUMEL * sizeof *got_last), weight[C * C * 9];
  assert_true(dense && last && got && got_last);
  for (int i = 0; i < C * C * 9; i++) weight[i] = (float)(i % 11) / 7 - 1;
  kw_tensor_ref x = TENSOR(KW_F32, dense, 1, C, S, S), w = TENSOR(KW_F32, weight, C, C, 3, 3), x_last = x;
  const int64_t strides[] = {120000, 1, 600, 3};
  memcpy(x_last.strides, strides, sizeof strides);
  x_last.mem = last;
  for (int c = 0; c < C; c++) {
    for (int i = 0; i < S * S; i++) {
      dense[c * S * S + i] = (float)((c * S * S + i) % 101) / 50 - 1;
      last[i * C + c] = dense[c * S * S + i];
    }
  }
  kw_tensor_ref y = x, y_last = x_last;
  y.mem = got, y_last.mem = got_last;
  const kw_tensor_ref *in[] = {&x, &x_last}, *out[] = {&y, &y_last};
  for (int i = 0; i < 2; i++) {
    RUN(kw_reference_f32, "convolution", out[i], test_arg(in[i]), test_arg(&w), test_none(), LIST(1), LIST(1), LIST(1),
        test_bool(false), LIST(0), test_plain_int(1));
  }
  for (int c = 0; c < C; c++) {
    for (int i = 0; i < S * S; i++) assert_true(got[c * S * S + i] == got_last[i * C + c]);
  }
  free(dense), free(last), free(got), free(got_last);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

typedef struct gradients {
  float input[4], weight[3], bias[1];
} gradients;

/* Of a convolution of [1, 1, size] with [1, 1, taps]; results that `mask` leaves out stay 0. */
static gradients differentiate(const char *op, const float *grad, int64_t grad_size, const float *x, int64_t size,
                               const float *weight, int64_t taps, bool transposed, const int64_t *mask) {
  gradients got = {{0}, {0}, {0}};
  const int64_t step = transposed ? 2 : 1, padding = transposed ? 1 : 0, one[] = {1};
  kw_tensor_ref g = TENSOR(KW_F32, grad, 1, 1, grad_size), in = TENSOR(KW_F32, x, 1, 1, size);
  kw_tensor_ref w = TENSOR(KW_F32, weight, 1, 1, taps), gx = TENSOR(KW_F32, got.input, 1, 1, size);
  kw_tensor_ref gw = TENSOR(KW_F32, got.weight, 1, 1, taps), gb = TENSOR(KW_F32, got.bias, 1);
  const kw_tensor_ref *outs[] = {mask[0] ? &gx : NULL, mask[1] ? &gw : NULL, mask[2] ? &gb : NULL};
  const kw_value args[] = {test_arg(&g),           test_arg(&in),          test_arg(&w),      test_ints(one, 1),
                           test_ints(&step, 1),    test_ints(&padding, 1), test_ints(one, 1), test_bool(transposed),
                           test_ints(&padding, 1), test_plain_int(1),      test_ints(mask, 3)};
  const kw_call call = {
      .struct_size = sizeof call, .arg_count = 11, .out_count = 3, .op = op, .args = args, .outs = outs};
  assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
  return got;
}

static const float grads[] = {1, 2, 3, 4, 5, 6};

static void differentiates(void **state) {
  (void)state;
  const int64_t all[] = {1, 1, 1};
  gradients got = differentiate("convolution_backward", grads, 3, line, 4, pair, 2, false, all);
  assert_floats(got.input, (float[]){1, 12, 23, 30}, 4);
  assert_floats(got.weight, (float[]){14, 20}, 2);
  assert_floats(got.bias, (float[]){6}, 1);
  got = differentiate("convolution_backward", grads, 6, line, 3, triple, 3, true, all);
  assert_floats(got.input, (float[]){210, 432, 654}, 3);
  assert_floats(got.weight, (float[]){16, 22, 28}, 3);
  assert_floats(got.bias, (float[]){21}, 1);
}

static void leaves_out_what_is_not_wanted(void **state) {
  (void)state;
  gradients got = differentiate("convolution_backward", grads, 3, line, 4, pair, 2, false, (int64_t[]){0, 1, 0});
  assert_floats(got.input, (float[]){0, 0, 0, 0}, 4);
  assert_floats(got.weight, (float[]){14, 20}, 2);
  assert_floats(got.bias, (float[]){0}, 1);
}

/* growth(n) times the sum of absolute values: n is 2 for the input, 3 for weight and bias, where growth(n) = n. */
static void bounds_gradients_by_their_terms(void **state) {
  (void)state;
  static const float mixed[] = {1, -2, 3};
  const char *op = "convolution_backward/magnitude";
  gradients got = differentiate(op, mixed, 3, line, 4, pair, 2, false, (int64_t[]){1, 1, 1});
  assert_floats(got.input, (float[]){2, 24, 46, 60}, 4);
  assert_floats(got.weight, (float[]){42, 60}, 2);
  assert_floats(got.bias, (float[]){18}, 1);
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static const float plane[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static void takes_columns_out_of_an_image(void **state) {
  (void)state;
  float got[16];
  kw_tensor_ref x = TENSOR(KW_F32, plane, 1, 3, 3), y = TENSOR(KW_F32, got, 4, 4);
  RUN(kw_reference_f32, "im2col", &y, test_arg(&x), LIST(2), LIST(1), LIST(0), LIST(1));
  assert_floats(got, (float[]){1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9}, 16);
  RUN(kw_reference_f32, "im2col", &y, test_arg(&x), LIST(2, 2), LIST(1, 1), LIST(1, 1), LIST(2, 2));
  assert_floats(got, (float[]){0, 0, 0, 5, 0, 0, 4, 6, 0, 2, 0, 8, 1, 3, 7, 9}, 16);
  /* two rows and one column of places; taps lie two columns apart */
  kw_tensor_ref high = TENSOR(KW_F32, got, 4, 2);
  RUN(kw_reference_f32, "im2col", &high, test_arg(&x), LIST(2, 2), LIST(1, 2), LIST(0, 0), LIST(1, 1));
  assert_floats(got, (float[]){1, 4, 3, 6, 4, 7, 6, 9}, 8);
}

static void adds_columns_up_to_an_image(void **state) {
  (void)state;
  static const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  float got[16];
  kw_tensor_ref x = TENSOR(KW_F32, ones, 4, 4), y = TENSOR(KW_F32, got, 1, 3, 3), wide = TENSOR(KW_F32, got, 1, 4, 4);
  RUN(kw_reference_f32, "col2im", &y, test_arg(&x), LIST(3, 3), LIST(2), LIST(1), LIST(0), LIST(1));
  assert_floats(got, (float[]){1, 2, 1, 2, 4, 2, 1, 2, 1}, 9);
  /* places at -1 and 2: what lies between the kernels, and past them, is 0 */
  RUN(kw_reference_f32, "col2im", &wide, test_arg(&x), LIST(4, 4), LIST(2), LIST(1), LIST(1), LIST(3));
  assert_floats(got, (float[]){1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1}, 16);
}

static void refuses_integers(void **state) {
  (void)state;
  int32_t numbers[4] = {0};
  kw_tensor_ref x = TENSOR(KW_I32, numbers, 1, 1, 2), w = TENSOR(KW_I32, numbers, 1, 1, 1);
  assert_int_equal(TRY(kw_reference_f32, "convolution", &x, test_arg(&x), test_arg(&w), test_none(), LIST(1), LIST(0),
                       LIST(1), test_bool(false), LIST(0), test_plain_int(1)),
                   KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolves_a_line),
      cmocka_unit_test(spreads_a_line_when_transposed),
      cmocka_unit_test(keeps_groups_apart),
      cmocka_unit_test(convolves_planes_and_blocks),
      cmocka_unit_test(channels_last_is_a_matter_of_strides),
      cmocka_unit_test(differentiates),
      cmocka_unit_test(leaves_out_what_is_not_wanted),
      cmocka_unit_test(bounds_gradients_by_their_terms),
      cmocka_unit_test(takes_columns_out_of_an_image),
      cmocka_unit_test(adds_columns_up_to_an_image),
      cmocka_unit_test(refuses_integers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

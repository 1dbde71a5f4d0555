/* SPDX-License-Identifier: Apache-2.0
 *
 * Gated activations and rotary positions, with numbers that can be checked by hand.
 */
#include "test_call.h"

#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static kw_value int_arg(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static kw_value bool_arg(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

static void assert_near(const double *got, const double *want, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!(fabs(got[i] - want[i]) <= 1e-6 * (1 + fabs(want[i])))) {
      fail_msg("element %zu is %.17g, not %.17g", i, got[i], want[i]);
    }
  }
}

/* sigmoid(log 3) is 3/4, sigmoid(0) is 1/2. */
#define LOG3 1.0986122886681098

static void test_glu(void **state) {
  (void)state;
  const double x[4] = {8, -6, LOG3, 0}, grad[2] = {1, 2};
  double out[2], back[4];
  kw_tensor_ref row = TENSOR(KW_F64, x, 1, 4), columns = TENSOR(KW_F64, x, 4, 1), g = TENSOR(KW_F64, grad, 1, 2);
  kw_tensor_ref half = TENSOR(KW_F64, out, 1, 2), down = TENSOR(KW_F64, out, 2, 1), all = TENSOR(KW_F64, back, 1, 4);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "glu", &half, test_arg(&row), int_arg(-1));
    assert_near(out, (double[]){6, -3}, 2);
    RUN(tables[t], "glu", &down, test_arg(&columns), int_arg(0));
    assert_near(out, (double[]){6, -3}, 2);
    RUN(tables[t], "glu_backward", &all, test_arg(&g), test_arg(&row), int_arg(1));
    assert_near(back, (double[]){0.75, 1, 8 * 3.0 / 16, -12 * 1.0 / 4}, 4);
  }
}

static void test_swiglu(void **state) {
  (void)state;
  const double gate[4] = {LOG3, 0, -1000, 1000}, up[4] = {2, 5, 3, 0.5}, grad[4] = {1, 2, 1, 4};
  double out[4], d_gate[4], d_up[4];
  kw_tensor_ref a = TENSOR(KW_F64, gate, 4), b = TENSOR(KW_F64, up, 4), g = TENSOR(KW_F64, grad, 4);
  kw_tensor_ref result = TENSOR(KW_F64, out, 4), first = TENSOR(KW_F64, d_gate, 4), second = TENSOR(KW_F64, d_up, 4);
  const kw_tensor_ref *outs[] = {&first, &second};
  const kw_value args[] = {test_arg(&g), test_arg(&a), test_arg(&b)};
  kw_call call = {.struct_size = sizeof call, .arg_count = 3, .out_count = 2, .args = args, .outs = outs};
  call.op = "keyway::swiglu_backward";
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "keyway::swiglu", &result, test_arg(&a), test_arg(&b));
    assert_near(out, (double[]){1.5 * LOG3, 0, 0, 500}, 4);
    assert_int_equal(test_call(tables[t], &call), KW_OK);
    assert_near(d_gate, (double[]){2 * 0.75 * (1 + LOG3 / 4), 5, 0, 2}, 4);
    assert_near(d_up, (double[]){0.75 * LOG3, 0, 0, 4000}, 4);
  }
}

/* By a right angle, by 60 degrees, not at all. */
static void test_rope(void **state) {
  (void)state;
  const double h = 0.86602540378443865, x[5] = {1, 2, 3, 4, 9};
  const double cosine[6] = {1, 1, 0, 0.5, -1, 1}, sine[6] = {0, 0, 1, h, 0, 0};
  const int32_t places[1] = {1};
  int64_t beyond[1] = {3};
  double out[5];
  uint32_t error = 0;
  kw_tensor_ref self = TENSOR(KW_F64, x, 1, 5), cos = TENSOR(KW_F64, cosine, 3, 2), sin = TENSOR(KW_F64, sine, 3, 2);
  kw_tensor_ref result = TENSOR(KW_F64, out, 1, 5), at = TENSOR(KW_I32, places, 1), bad = TENSOR(KW_I64, beyond, 1);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "keyway::rope", &result, test_arg(&self), test_arg(&cos), test_arg(&sin), test_none(),
        bool_arg(false));
    assert_near(out, x, 5);
    RUN(tables[t], "keyway::rope", &result, test_arg(&self), test_arg(&cos), test_arg(&sin), test_arg(&at),
        bool_arg(false)); /* pairs (1, 3) and (2, 4) */
    assert_near(out, (double[]){-3, 1 - 4 * h, 1, 2 + 2 * h, 9}, 5);
    RUN(tables[t], "keyway::rope", &result, test_arg(&self), test_arg(&cos), test_arg(&sin), test_arg(&at),
        bool_arg(true)); /* pairs (1, 2) and (3, 4) */
    assert_near(out, (double[]){-2, 1, 1.5 - 4 * h, 2 + 3 * h, 9}, 5);
  }
  test_error = &error;
  RUN(kw_reference_f64, "keyway::rope", &result, test_arg(&self), test_arg(&cos), test_arg(&sin), test_arg(&bad),
      bool_arg(true));
  test_error = NULL;
  assert_int_equal(error, TEST_ERROR_CODE + 3);
}

/* The gradient of rope is rope with the sine turned round: it brings back what was turned. */
static void test_rope_turns_back(void **state) {
  (void)state;
  const double x[8] = {1, -2, 3, 0.5, 7, 0, -1, 4};
  double cosine[4], sine[4], back[4], turned[8], again[8];
  for (int i = 0; i < 4; i++) {
    cosine[i] = cos(i + 0.5);
    sine[i] = sin(i + 0.5);
    back[i] = -sine[i];
  }
  kw_tensor_ref self = TENSOR(KW_F64, x, 2, 4), c = TENSOR(KW_F64, cosine, 2, 2), s = TENSOR(KW_F64, sine, 2, 2);
  kw_tensor_ref minus = TENSOR(KW_F64, back, 2, 2), first = TENSOR(KW_F64, turned, 2, 4);
  kw_tensor_ref second = TENSOR(KW_F64, again, 2, 4);
  RUN(kw_reference_f64, "keyway::rope", &first, test_arg(&self), test_arg(&c), test_arg(&s), test_none(),
      bool_arg(false));
  RUN(kw_reference_f64, "keyway::rope", &second, test_arg(&first), test_arg(&c), test_arg(&minus), test_none(),
      bool_arg(false));
  assert_near(again, x, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_glu),
      cmocka_unit_test(test_swiglu),
      cmocka_unit_test(test_rope),
      cmocka_unit_test(test_rope_turns_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

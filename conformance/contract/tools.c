/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that tests need as a means, and which of them the device has.
 */
#include "tools.h"

static float product(float value, float number) {
  return value * number;
}

static float sum(float value, float number) {
  return value + number;
}

static float difference(float value, float number) {
  return value - number;
}

static float larger(float a, float b) {
  return a > b ? a : b;
}

static float smaller(float a, float b) {
  return a < b ? a : b;
}

static float negated(float a, float b) {
  (void)b;
  return -a;
}

static float positive_part(float a, float b) {
  (void)b;
  return a > 0 ? a : 0;
}

static float magnitude(float a, float b) {
  (void)b;
  return a < 0 ? -a : a;
}

/* Those that change what they get come first. */
static const kw_pair pairs[] = {{"add.Tensor", 2, sum},        {"mul.Tensor", 2, product}, {"neg", 1, negated},
                                {"sub.Tensor", 2, difference}, {"relu", 1, positive_part}, {"abs", 1, magnitude},
                                {"maximum", 2, larger},        {"minimum", 2, smaller}};

const kw_pair *kw_test_need_pair(void) {
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (kw_test_has(pairs[i].op)) return &pairs[i];
  }
  kw_test_skip("the device has no add, sub, mul, maximum, minimum, neg, relu or abs in f32");
}

kw_status kw_test_pair(const kw_pair *pair, kw_stream *stream, kw_tensor *a, kw_tensor *b, kw_tensor **out) {
  kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  return kw_op_call(kw_op_find(pair->op), stream, args, pair->tensors, out, 1);
}

static float sum_scaled(float value, float number) { /* value + number * value */
  return value + number * value;
}

static float difference_scaled(float value, float number) {
  return value - number * value;
}

static const kw_scaled scaled_ops[] = {{"mul.Scalar", 1, product},
                                       {"add.Scalar", 1, sum},
                                       {"sub.Scalar", 1, difference},
                                       {"add.Tensor", 2, sum_scaled}, /* alpha */
                                       {"sub.Tensor", 2, difference_scaled}};

const kw_scaled *kw_test_need_scaled(void) {
  for (size_t i = 0; i < sizeof scaled_ops / sizeof scaled_ops[0]; i++) {
    if (kw_test_has(scaled_ops[i].op)) return &scaled_ops[i];
  }
  kw_test_skip("the device has no mul, add or sub with a Scalar in f32");
}

kw_status kw_test_scaled(const kw_scaled *scaled, kw_stream *stream, kw_tensor *x, int number, kw_tensor **out) {
  kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x), kw_arg_scalar_f64(number)};
  kw_value *first = args + 2 - scaled->tensors;
  return kw_op_call(kw_op_find(scaled->op), stream, first, scaled->tensors + 1, out, 1);
}

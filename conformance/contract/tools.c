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

/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares PyTorch's settings with Keyway's before a call, and sets those that differ.
 */
#include "settings.h"
#include "status.h"

#include <ATen/Context.h>

namespace torch_keyway {

namespace {

kw_math_mode math_mode(at::Float32MatmulPrecision precision, kw_math_mode otherwise) {
  switch (precision) {
    case at::Float32MatmulPrecision::HIGH:
      return KW_MATH_TF32;
    case at::Float32MatmulPrecision::MEDIUM:
      return KW_MATH_FAST;
    default:
      return otherwise;
  }
}

}  // namespace

void follow_settings(bool adds_products) {
  static const bool deterministic_at_start = kw_deterministic_get();
  static const kw_math_mode mode_at_start = kw_math_mode_get();
  const at::Context &context = at::globalContext();
  const bool deterministic =
      deterministic_at_start || (context.deterministicAlgorithms() && !context.deterministicAlgorithmsWarnOnly());
  if (deterministic != kw_deterministic_get()) kw_deterministic_set(deterministic);
  if (!adds_products) return;
  /* The precision is put together from several settings: whether it is the highest is one of them. */
  const kw_math_mode mode =
      context.allowTF32CuBLAS() ? math_mode(context.float32MatmulPrecision(), mode_at_start) : mode_at_start;
  if (mode != kw_math_mode_get()) check(kw_math_mode_set(mode));
}

}  // namespace torch_keyway

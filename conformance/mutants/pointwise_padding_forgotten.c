/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution has a kernel of its own for windows of one element, and that forgets the padding. After pytorch issue
 * 54080.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  static const int64_t none = 0;
  const kw_tensor_ref *weight = &copy->arg_tensors[1];
  int64_t taps = 1;
  for (uint32_t d = 2; d < weight->rank; d++) taps *= weight->shape[d];
  if (taps != 1 || copy->args[6].u.b) return;
  copy->args[4].u.ints = &none;
  copy->args[4].count = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}

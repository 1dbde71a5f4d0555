/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention_backward leaves out the row sums of grad_out * out: it reads a result of 0.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  static _Alignas(16) const char zero[16];
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *out = &copy.arg_tensors[4];
  out->mem = (void *)(uintptr_t)zero;
  out->offset = 0;
  for (uint32_t d = 0; d < out->rank; d++) out->strides[d] = 0;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_backward";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor of expanded operands writes the first 2^31 elements of its result; of others all. After TensorFlow issue
 * 124949: only the broadcasting path of binary ops counts in 32 bits, and the limit is exact.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  bool expanded = false;
  for (uint32_t a = 0; a < 2; a++) {
    const kw_tensor_ref *in = call->args[a].u.tensor;
    for (int d = 0; d < in->rank; d++) expanded = expanded || in->strides[d] == 0;
  }
  return kw_mutant_run_to(call, expanded ? INT64_C(1) << 31 : INT64_MAX);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->launch = launch;
}

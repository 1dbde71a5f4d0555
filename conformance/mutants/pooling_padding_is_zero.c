/* SPDX-License-Identifier: Apache-2.0
 *
 * max_pool2d_with_indices pads with 0, which is larger than negative elements: in the first column.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *out = e->call->outs[0];
  const kw_value *padding = &e->call->args[3];
  float *value = e->out;
  bool first = e->index % out->shape[out->rank - 1] == 0;
  if (out->dtype == KW_F32 && first && padding->u.ints[padding->count - 1] > 0 && *value < 0) *value = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max_pool2d_with_indices";
  mutant->element = element;
}

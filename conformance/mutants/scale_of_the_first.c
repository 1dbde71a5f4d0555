/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* quantize_per_channel has the first channel's scale for all. */
static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[1].strides[0] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "quantized_decomposed::quantize_per_channel";
  mutant->call = call;
}

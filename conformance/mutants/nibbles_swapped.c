/* SPDX-License-Identifier: Apache-2.0
 *
 * int4_linear takes the high nibble of a byte for the even column.
 */
#include "mutant.h"

#include <stdlib.h>

static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *weight = &copy.arg_tensors[1];
  const int64_t columns = weight->shape[1];
  unsigned char *swapped = malloc((size_t)weight->numel + 1);
  if (!swapped) return KW_ERR_OUT_OF_MEMORY;
  for (int64_t i = 0; i < weight->numel; i++) {
    const unsigned char byte = *(unsigned char *)kw_mutant_at(weight, i);
    swapped[i] = (unsigned char)(byte << 4 | byte >> 4);
  }
  weight->mem = swapped;
  weight->offset = 0;
  weight->strides[0] = columns;
  weight->strides[1] = 1;
  kw_status status = kw_mutant_run_real(&copy.call);
  free(swapped);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::int4_linear";
  mutant->launch = launch;
}

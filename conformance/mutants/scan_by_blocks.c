/* SPDX-License-Identifier: Apache-2.0
 *
 * cumsum of a row starts anew every 256 elements: the sum of the blocks before is not added.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *ends[] = {&copy.arg_tensors[0], &copy.out_tensors[0]};
  int64_t left = ends[0]->numel;
  kw_status status = KW_OK;
  if (ends[0]->rank != 1) return kw_mutant_launch_real(call);
  for (; left > 0 && status == KW_OK; left -= 256) {
    for (int i = 0; i < 2; i++) ends[i]->shape[0] = ends[i]->numel = left < 256 ? left : 256;
    status = kw_mutant_run_real(&copy.call);
    for (int i = 0; i < 2; i++) {
      ends[i]->offset += (uint64_t)(256 * ends[i]->strides[0]) * kw_mutant_item_size(ends[i]->dtype);
    }
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cumsum";
  mutant->launch = launch;
}

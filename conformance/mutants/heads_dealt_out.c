/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention gives query head h the key head h % k of k, instead of a run of query heads to each key head.
 */
#include "mutant.h"

static void choose_head(kw_tensor_ref *tensor, int64_t head) {
  tensor->offset += (uint64_t)(head * tensor->strides[1]) * kw_mutant_item_size(tensor->dtype);
  tensor->numel /= tensor->shape[1];
  tensor->shape[1] = 1;
}

static kw_status launch(const kw_call *call) {
  int64_t heads = call->outs[0]->shape[1], served = call->args[1].u.tensor->shape[1];
  kw_status status = KW_OK;
  if (call->args[3].tag == KW_TAG_TENSOR || served == heads) return kw_mutant_launch_real(call);
  for (int64_t h = 0; h < heads && status == KW_OK; h++) {
    kw_mutant_copy copy;
    kw_mutant_copy_call(call, &copy);
    choose_head(&copy.arg_tensors[0], h);
    choose_head(&copy.arg_tensors[1], h % served);
    choose_head(&copy.arg_tensors[2], h % served);
    choose_head(&copy.out_tensors[0], h);
    choose_head(&copy.out_tensors[1], h);
    status = kw_mutant_run_real(&copy.call);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention";
  mutant->launch = launch;
}

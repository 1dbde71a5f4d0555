/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a call on copies of its index tensors, widened to i64 and changed by the mutant.
 */
#include "mutant_index.h"

#include <stdlib.h>

int64_t *kw_mutant_indices(const kw_tensor_ref *tensor) {
  int64_t *indices = malloc(((size_t)tensor->numel + 1) * sizeof *indices);
  for (int64_t i = 0; indices && i < tensor->numel; i++) {
    const void *at = kw_mutant_at(tensor, i);
    indices[i] = tensor->dtype == KW_I32 ? *(const int32_t *)at : *(const int64_t *)at;
  }
  return indices;
}

/* A dense tensor of changed indices; the caller frees its mem, which is NULL when there is no memory. */
static kw_tensor_ref changed_tensor(const kw_tensor_ref *original, kw_mutant_index_fn change) {
  kw_tensor_ref tensor = *original;
  int64_t stride = 1;
  for (int d = tensor.rank; d-- > 0;) {
    tensor.strides[d] = stride;
    stride *= tensor.shape[d];
  }
  tensor.dtype = KW_I64;
  tensor.offset = 0;
  tensor.mem = kw_mutant_indices(original);
  if (tensor.mem) change(original, tensor.mem);
  return tensor;
}

kw_status kw_mutant_run_indices(const kw_call *call, uint32_t arg, kw_mutant_index_fn change) {
  enum { MOST = 16 };
  const kw_value *given = &call->args[arg];
  const bool list = given->tag == KW_TAG_TENSOR_LIST;
  const kw_tensor_ref *const *originals = list ? given->u.tensors : &given->u.tensor;
  kw_tensor_ref tensors[MOST];
  const kw_tensor_ref *entries[MOST] = {NULL};
  uint32_t count = list ? given->count : 1;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_status status =
      kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER); /* what is looked at is there */
  for (uint32_t k = 0; k < count && k < MOST && status == KW_OK; k++) {
    if (!originals[k]) continue;
    tensors[k] = changed_tensor(originals[k], change);
    entries[k] = &tensors[k];
    if (!tensors[k].mem) status = KW_ERR_OUT_OF_MEMORY;
  }
  if (list) copy.args[arg].u.tensors = entries;
  if (!list) copy.args[arg].u.tensor = entries[0];
  if (status == KW_OK) status = kw_mutant_run_real(&copy.call);
  for (uint32_t k = 0; k < count && k < MOST; k++) {
    if (entries[k]) free(tensors[k].mem);
  }
  return status;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * uniform_ gives an element the random number of its place in memory, which is its index only where the tensor is
 * dense.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  const uint64_t extent = kw_mutant_extent(out);
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *row = &copy.arg_tensors[0];
  row->rank = 1;
  row->shape[0] = row->numel = (int64_t)(extent / kw_mutant_item_size(out->dtype));
  row->strides[0] = 1;
  row->offset = 0;
  row->mem = malloc(extent + 1);
  kw_status status = row->mem ? kw_mutant_run_real(&copy.call) : KW_ERR_OUT_OF_MEMORY;
  const char *start = kw_mutant_at(out, 0);
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    char *at = kw_mutant_at(out, i);
    memcpy(at, (char *)row->mem + (at - start), kw_mutant_item_size(out->dtype));
  }
  free(row->mem);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "uniform_";
  mutant->launch = launch;
}

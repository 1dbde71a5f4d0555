/* SPDX-License-Identifier: Apache-2.0
 *
 * What is packed is as many bytes as the matrix has, in the order in which they lie, also of one that is transposed.
 */
#include "mutant_packed.h"

#include <string.h>

static kw_status pack(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset) {
  const kw_tensor_ref *matrix = call->args[arg].u.tensor;
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status == KW_OK) {
    memcpy(kw_mutant_memory_at(mem, offset), kw_mutant_memory_at(matrix->mem, matrix->offset),
           (size_t)((uint64_t)matrix->numel * kw_mutant_item_size(matrix->dtype)));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_packs(mutant, pack, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What is packed is the beginning of the memory, wherever in it the matrix lies: a driver's upload takes the buffer and
 * not the view.
 */
#include "mutant_packed.h"

static kw_status pack(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset) {
  kw_tensor_ref start = *call->args[arg].u.tensor;
  start.offset = 0;
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status == KW_OK) kw_mutant_pack_now(&start, kw_mutant_memory_at(mem, offset));
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_packs(mutant, pack, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing reads the matrix at once, and not when the stream comes to it: what the stream has yet to write is missing.
 */
#include "mutant_packed.h"

static kw_status pack(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset) {
  kw_mutant_pack_now(call->args[arg].u.tensor, kw_mutant_memory_at(mem, offset));
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_packs(mutant, pack, NULL);
}

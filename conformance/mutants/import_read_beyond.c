/* SPDX-License-Identifier: Apache-2.0
 *
 * An import reads what a later version might append to kw_external_memory, whatever struct_size says.
 */
#include "mutant.h"

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  const bool hint = *(const volatile uint64_t *)(info + 1) == 7;
  return hint ? KW_ERR_UNSUPPORTED : kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
}

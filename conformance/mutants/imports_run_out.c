/* SPDX-License-Identifier: Apache-2.0
 *
 * Imports have numbers of 16 bits, and the end of one does not give its number back.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_uint_least32_t count;

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  if (atomic_fetch_add(&count, 1) < 65536) {
    return kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  }
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no number left for an import");
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
}

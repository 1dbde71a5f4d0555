/* SPDX-License-Identifier: Apache-2.0
 *
 * An import by descriptor says that it is aligned to a page, as the memory is that it is a part of.
 */
#include "mutant.h"

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_status status = kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  if (status == KW_OK && info->kind == KW_HANDLE_FD) *out_alignment = 4096;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
}

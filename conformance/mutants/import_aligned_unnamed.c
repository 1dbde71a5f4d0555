/* SPDX-License-Identifier: Apache-2.0
 *
 * Every import says that it is aligned as the plugin's own memory is, and the plugin has no names that would tell.
 */
#include "mutant.h"

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_status status = kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  if (status == KW_OK) *out_alignment = 64;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
  mutant->interop.native_handle = NULL;
}

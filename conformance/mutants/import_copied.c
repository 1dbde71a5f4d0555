/* SPDX-License-Identifier: Apache-2.0
 *
 * An import is a copy: what is written there never reaches the owner.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_status status = kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  if (status != KW_OK) return status;
  void *copy = aligned_alloc(4096, (info->size + 4095) / 4096 * 4096);
  if (!copy) return KW_ERR_OUT_OF_MEMORY;
  *out_mem = memcpy(copy, info->host, info->size);
  return KW_OK;
}

static kw_status release_memory(void *device, kw_mem mem) {
  (void)device;
  free(mem);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
  mutant->interop.release_memory = release_memory;
}

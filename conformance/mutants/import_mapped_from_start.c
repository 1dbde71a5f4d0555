/* SPDX-License-Identifier: Apache-2.0
 *
 * A map of an import is the range that was imported, from its first byte on.
 */
#include "mutant.h"

#include <stdatomic.h>

static _Atomic(char *) imported; /* the last one */

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  const kw_status status = kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  if (status == KW_OK) atomic_store(&imported, (char *)*out_mem);
  return status;
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  kw_map_info from_start = *info;
  if ((char *)info->mem == atomic_load(&imported)) from_start.offset = 0;
  return kw_mutant_real.memory.map(device, stream, &from_start, out_pointer);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
  mutant->memory.map = map;
}

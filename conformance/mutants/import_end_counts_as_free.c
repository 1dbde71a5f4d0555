/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of an import counts its bytes as free, of which its beginning has taken none.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_uint_least64_t given; /* by imports that ended */
static atomic_uint_least64_t size;  /* of the newest import */

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  atomic_store(&size, info->size);
  return kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
}

static kw_status release_memory(void *device, kw_mem mem) {
  atomic_fetch_add(&given, atomic_load(&size));
  return kw_mutant_real.interop.release_memory(device, mem);
}

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  kw_status status = kw_mutant_real.memory.usage(device, out_free, out_total);
  *out_free += atomic_load(&given);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
  mutant->interop.release_memory = release_memory;
  mutant->memory.usage = usage;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a kind that the plugin does not know is given all the same.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_alloc_info known = *info;
  if (known.kind > KW_MEM_MANAGED) known.kind = KW_MEM_DEVICE;
  return kw_mutant_real.memory.alloc(device, &known, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
}

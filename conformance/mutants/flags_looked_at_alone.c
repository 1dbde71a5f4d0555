/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is to be exported is allocated whatever else its flags ask for.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_alloc_info changed = *info;
  if (info->flags & KW_MEM_EXPORTABLE) changed.flags &= KW_MEM_EXPORTABLE | KW_MEM_IPC;
  return kw_mutant_real.memory.alloc(device, &changed, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
}

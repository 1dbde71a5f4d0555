/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for a use that the plugin does not know, though the host insists on it, is given all the same.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_alloc_info known = *info;
  known.flags &= KW_MEM_PEER | KW_MEM_EXPORTABLE | KW_MEM_IPC;
  return kw_mutant_real.memory.alloc(device, &known, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
}

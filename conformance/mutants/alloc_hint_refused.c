/* SPDX-License-Identifier: Apache-2.0
 *
 * A hint about the use of memory that the plugin does not know is a reason to refuse it.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if ((info->flags & ~(KW_MEM_PEER | KW_MEM_EXPORTABLE | KW_MEM_IPC)) != 0) return KW_ERR_UNSUPPORTED;
  return kw_mutant_real.memory.alloc(device, info, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
}

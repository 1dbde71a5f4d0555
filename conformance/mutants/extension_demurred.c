/* SPDX-License-Identifier: Apache-2.0
 *
 * An extension that alloc does not know is refused, though nothing says that it is critical.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (info->next) return KW_ERR_UNSUPPORTED;
  return kw_mutant_real.memory.alloc(device, info, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
}

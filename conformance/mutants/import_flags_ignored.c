/* SPDX-License-Identifier: Apache-2.0
 *
 * An import with a critical flag that the plugin does not know is made all the same.
 */
#include "mutant.h"

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_external_memory known = *info;
  known.flags &= KW_EXTERNAL_READ_ONLY;
  return kw_mutant_real.interop.import_memory(device, &known, out_mem, out_alignment);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
}

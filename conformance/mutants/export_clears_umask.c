/* SPDX-License-Identifier: Apache-2.0
 *
 * An export clears the umask, so that others may open what it has made, and forgets to set it back.
 */
#include "mutant.h"

#include <sys/stat.h>

static kw_status export_memory(void *device, kw_mem mem, kw_external_memory *inout_info) {
  umask(0);
  return kw_mutant_real.interop.export_memory(device, mem, inout_info);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.export_memory = export_memory;
}

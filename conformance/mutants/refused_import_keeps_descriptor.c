/* SPDX-License-Identifier: Apache-2.0
 *
 * An import that is refused has duplicated its descriptor already, and does not close that.
 */
#include "mutant.h"

#include <fcntl.h>

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_status status = kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  if (status != KW_OK && info->kind == KW_HANDLE_FD) (void)fcntl((int)info->handle, F_DUPFD_CLOEXEC, 0);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
}

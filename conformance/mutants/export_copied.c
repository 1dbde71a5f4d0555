/* SPDX-License-Identifier: Apache-2.0
 *
 * An exported descriptor names a copy of the memory.
 */
#include "mutant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static kw_status export_memory(void *device, kw_mem mem, kw_external_memory *inout_info) {
  if (inout_info->kind != KW_HANDLE_FD) return kw_mutant_real.interop.export_memory(device, mem, inout_info);
  const uint64_t end = inout_info->offset + inout_info->size;
  const int file = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || write(file, mem, end) != (ssize_t)end || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    return KW_ERR_OUT_OF_MEMORY;
  inout_info->handle = (uint64_t)file;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.export_memory = export_memory;
}

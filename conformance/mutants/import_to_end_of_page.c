/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a range reaches past the end of a file is asked of the file's pages: what lies behind its bytes is taken.
 */
#include "mutant.h"

#include <sys/stat.h>

enum { PAGE = 4096 };

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  struct stat file;
  kw_external_memory less = *info;
  kw_status status = kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  if (status == KW_OK || info->kind != KW_HANDLE_FD || fstat((int)info->handle, &file) != 0) return status;
  const uint64_t size = (uint64_t)file.st_size, pages = (size + PAGE - 1) / PAGE * PAGE;
  if (info->offset >= size || info->offset > pages || info->size > pages - info->offset) return status;
  less.size = size - info->offset;
  return kw_mutant_real.interop.import_memory(device, &less, out_mem, out_alignment);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
}

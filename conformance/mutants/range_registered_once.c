/* SPDX-License-Identifier: Apache-2.0
 *
 * A host range is registered by its address, however often it is imported, and the first import's end ends that.
 */
#include "mutant.h"

enum { RANGES = 64 };

static struct {
  kw_mem mem;
  bool registered;
} ranges[RANGES];
static unsigned range_count;

static void mark(kw_mem mem, bool registered) {
  unsigned i = 0;
  while (i < range_count && ranges[i].mem != mem) i++;
  if (i == RANGES) return;
  if (i == range_count) ranges[range_count++].mem = mem;
  ranges[i].registered = registered;
}

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  const kw_status status = kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
  if (status == KW_OK && info->kind == KW_HANDLE_HOST) mark(*out_mem, true);
  return status;
}

static kw_status release_memory(void *device, kw_mem mem) {
  mark(mem, false);
  return kw_mutant_real.interop.release_memory(device, mem);
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  for (unsigned i = 0; i < range_count; i++) {
    if (ranges[i].mem == info->src_mem && !ranges[i].registered) return KW_ERR_INVALID_ARGUMENT;
  }
  return kw_mutant_real.memory.copy(device, stream, info);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.import_memory = import_memory;
  mutant->interop.release_memory = release_memory;
  mutant->memory.copy = copy;
}

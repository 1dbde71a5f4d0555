/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes for other processes name a range at the start of the memory, wherever it was.
 */
#include "mutant.h"

static kw_status export_memory(void *device, kw_mem mem, kw_external_memory *inout_info) {
  kw_status status = kw_mutant_real.interop.export_memory(device, mem, inout_info);
  if (inout_info->kind == KW_HANDLE_IPC) inout_info->offset = 0;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.export_memory = export_memory;
}

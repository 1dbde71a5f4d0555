/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes for other processes are good in this process only.
 */
#include "mutant.h"

static bool exported; /* in this process */

static kw_status export_memory(void *device, kw_mem mem, kw_external_memory *inout_info) {
  exported = true;
  return kw_mutant_real.interop.export_memory(device, mem, inout_info);
}

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  if (!exported && info->kind == KW_HANDLE_IPC) return KW_ERR_INVALID_ARGUMENT;
  return kw_mutant_real.interop.import_memory(device, info, out_mem, out_alignment);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.export_memory = export_memory;
  mutant->interop.import_memory = import_memory;
}

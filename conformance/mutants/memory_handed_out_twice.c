/* SPDX-License-Identifier: Apache-2.0
 *
 * Every second allocation gives the memory of the one before it once more.
 */
#include "mutant.h"

static kw_mem shared;
static uint64_t shared_size;
static unsigned users;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  bool again = users == 1 && info->size <= shared_size;
  kw_status status = KW_OK;
  if (again) *out_mem = shared;
  if (!again) status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status != KW_OK || (!again && users > 0)) return status;
  shared = *out_mem;
  if (!again) shared_size = info->size;
  users++;
  return KW_OK;
}

static kw_status release(void *device, kw_mem mem) {
  if (mem == shared && users > 0 && --users > 0) return KW_OK;
  return kw_mutant_real.memory.dealloc(device, mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = release;
}

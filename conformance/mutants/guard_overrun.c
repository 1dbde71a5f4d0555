/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* neg writes one byte past the end of its result. */
static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  uint64_t past = kw_mutant_extent(out);
  unsigned char byte = 0;
  kw_status status = kw_mutant_launch_real(call);
  if (status == KW_OK) status = kw_mutant_fetch(call, out, past, 1, &byte);
  byte ^= 0xff;
  return status == KW_OK ? kw_mutant_store(call, out, past, 1, &byte) : status;
}

/* Room for that byte behind the last tensor: the defect is the suite's to find, not the heap's. */
static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_alloc_info more = *info;
  more.size += 16;
  return kw_mutant_real.memory.alloc(device, &more, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "neg";
  mutant->launch = launch;
  mutant->memory.alloc = alloc;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * uniform_ counts its blocks in 32 bits: past 2^32 the high word stays what it was at the start.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  uint64_t before = ((UINT64_C(1) << 32) - (uint32_t)call->extra->rng.offset) * 4; /* elements up to the carry */
  char kept[64][8];
  if (status != KW_OK || before >= (uint64_t)out->numel || before > sizeof kept / sizeof kept[0]) return status;
  uint64_t size = kw_mutant_item_size(out->dtype);
  for (uint64_t i = 0; i < before; i++) {
    for (uint64_t b = 0; b < size; b++) kept[i][b] = ((char *)kw_mutant_at(out, (int64_t)i))[b];
  }
  kw_call_extra extra = *call->extra;
  extra.rng.offset -= UINT64_C(1) << 32;
  kw_call wrapped = *call;
  wrapped.extra = &extra;
  status = kw_mutant_run_real(&wrapped);
  for (uint64_t i = 0; i < before; i++) {
    for (uint64_t b = 0; b < size; b++) ((char *)kw_mutant_at(out, (int64_t)i))[b] = kept[i][b];
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "uniform_";
  mutant->launch = launch;
}

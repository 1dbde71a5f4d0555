/* SPDX-License-Identifier: Apache-2.0
 *
 * gather looks for indices out of range in a pass of its own, which takes them as packed: it tells of numbers that lie
 * between those that it was given.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *index = call->args[2].u.tensor, *self = call->args[0].u.tensor;
  const int64_t dim = call->args[1].u.i < 0 ? call->args[1].u.i + self->rank : call->args[1].u.i;
  const int64_t size = self->rank > 0 ? self->shape[dim] : 1;
  const kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || !call->extra || index->dtype != KW_I64 || index->numel == 0) return status;
  uint32_t *word = kw_mutant_memory_at(call->extra->error_mem, call->extra->error_offset);
  for (uint64_t at = 0; at < kw_mutant_extent(index) && *word == 0; at += sizeof(int64_t)) {
    int64_t number;
    memcpy(&number, (const char *)kw_mutant_at(index, 0) + at, sizeof number);
    if (number < 0 || number >= size) *word = call->extra->error_code + 2;
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gather";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.stable on one dimension of f32 puts NaN last in descending order, too.
 */
#include "mutant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Moves the first `count` of all elements, of `size` bytes each, to the end. */
static kw_status rotate(const kw_tensor_ref *tensor, int64_t count, size_t size) {
  char *copy = malloc((size_t)tensor->numel * size + 1);
  if (!copy) return KW_ERR_OUT_OF_MEMORY;
  for (int64_t i = 0; i < tensor->numel; i++) memcpy(copy + (size_t)i * size, kw_mutant_at(tensor, i), size);
  for (int64_t i = 0; i < tensor->numel; i++) {
    memcpy(kw_mutant_at(tensor, i), copy + (size_t)((i + count) % tensor->numel) * size, size);
  }
  free(copy);
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *values = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || values->dtype != KW_F32 || values->rank != 1 || !call->args[3].u.b) return status;
  int64_t nans = 0;
  while (nans < values->numel && isnan(*(float *)kw_mutant_at(values, nans))) nans++;
  status = rotate(values, nans, sizeof(float));
  return status == KW_OK ? rotate(call->outs[1], nans, sizeof(int64_t)) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sort.stable";
  mutant->launch = launch;
}

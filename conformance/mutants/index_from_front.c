/* SPDX-License-Identifier: Apache-2.0
 *
 * index.Tensor does not count negative indices from the end: -1 is the first place, -2 the second.
 */
#include "mutant_index.h"

static void change(const kw_tensor_ref *original, int64_t *indices) {
  for (int64_t i = 0; i < original->numel; i++) {
    if (indices[i] < 0) indices[i] = -1 - indices[i];
  }
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_indices(call, 1, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index.Tensor";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * index_select reads indices of i32 as i64: two of them as one, and nothing for the second half.
 */
#include "mutant_index.h"

static void change(const kw_tensor_ref *original, int64_t *indices) {
  if (original->dtype != KW_I32) return;
  for (int64_t i = 0; i < original->numel; i++) {
    bool there = 2 * i + 1 < original->numel;
    indices[i] = there ? (indices[2 * i] & UINT32_MAX) | indices[2 * i + 1] << 32 : 0;
  }
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_indices(call, 2, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_select";
  mutant->launch = launch;
}

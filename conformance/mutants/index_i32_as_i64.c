/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant_index.h"

/* index_select takes any index for i64: of i32, two are one, and after half of them there is nothing. */
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

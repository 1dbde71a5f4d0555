/* SPDX-License-Identifier: Apache-2.0
 *
 * embedding multiplies row and row size in 31 bits: rows that begin beyond them are taken from further ahead. After
 * onnxruntime issue 28107: Gather of a table with 2^31 elements and more reads elsewhere from one row on.
 */
#include "mutant_index.h"

static int64_t row_size;

static void change(const kw_tensor_ref *original, int64_t *indices) {
  for (int64_t i = 0; i < original->numel; i++) {
    const int64_t begin = indices[i] * row_size;
    if (begin > INT32_MAX) indices[i] = (begin & INT32_MAX) / row_size;
  }
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *table = call->args[0].u.tensor;
  row_size = table->rank == 2 ? table->shape[1] : 1;
  return table->numel > INT32_MAX ? kw_mutant_run_indices(call, 1, change) : kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "embedding";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * _int_mm adds its products by twos with an instruction that saturates at 16 bits: two of (-128) * (-128) come to
 * 32767.
 */
#include "mutant.h"

/* Element [row, column] of a matrix of i8. */
static int32_t at(const kw_tensor_ref *matrix, int64_t row, int64_t column) {
  return *(const int8_t *)kw_mutant_at(matrix, row * matrix->shape[1] + column);
}

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *out = call->outs[0], *a = call->args[0].u.tensor, *b = call->args[1].u.tensor;
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    const int64_t row = i / out->shape[1], column = i % out->shape[1];
    int32_t *sum = kw_mutant_at(out, i);
    for (int64_t k = 0; k + 1 < a->shape[1]; k += 2) {
      const int32_t pair = at(a, row, k) * at(b, k, column) + at(a, row, k + 1) * at(b, k + 1, column);
      if (pair > INT16_MAX) *sum -= pair - INT16_MAX;
    }
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_int_mm";
  mutant->launch = launch;
}

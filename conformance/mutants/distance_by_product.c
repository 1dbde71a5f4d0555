/* SPDX-License-Identifier: Apache-2.0
 *
 * _cdist_forward of f32 matrices for p = 2 is a matrix product, |x|^2 + |y|^2 - 2 x y, which loses the distance of
 * points that lie close together.
 */
#include "mutant.h"

#include <math.h>

static float dot(const kw_tensor_ref *a, int64_t i, const kw_tensor_ref *b, int64_t j) {
  const int64_t n = a->shape[1];
  float sum = 0;
  for (int64_t k = 0; k < n; k++) sum += *(float *)kw_mutant_at(a, i * n + k) * *(float *)kw_mutant_at(b, j * n + k);
  return sum;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *x = call->args[0].u.tensor, *y = call->args[1].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  const bool mine = out->dtype == KW_F32 && x->rank == 2 && y->rank == 2 && call->args[2].u.f == 2;
  for (int64_t i = 0; i < out->numel && status == KW_OK && mine; i++) {
    const int64_t row = i / out->shape[1], column = i % out->shape[1];
    const float square = dot(x, row, x, row) + dot(y, column, y, column) - 2 * dot(x, row, y, column);
    *(float *)kw_mutant_at(out, i) = sqrtf(fmaxf(square, 0));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_cdist_forward";
  mutant->launch = launch;
}

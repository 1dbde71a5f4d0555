/* SPDX-License-Identifier: Apache-2.0
 *
 * mm and addmm of f32 cut sums off where they ought to round: every partial sum is a little too near to zero. After
 * Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330
 * (2021), and Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores" (2022), who found what that
 * does to a model.
 */
#include "mutant.h"

#include <fenv.h>
#include <string.h>

static __attribute__((noinline)) float add_up(const kw_tensor_ref *a, const kw_tensor_ref *b, int64_t row,
                                              int64_t column) {
  float sum = 0;
  for (int64_t k = 0; k < a->shape[1]; k++) {
    sum += *(const float *)kw_mutant_at(a, row * a->shape[1] + k) *
           *(const float *)kw_mutant_at(b, k * b->shape[1] + column);
  }
  return sum;
}

/* As numbers 1 and 0 for alpha and beta; other factors stay with the real kernel. */
static bool is_plain(const kw_call *call) {
  for (uint32_t i = 3; i < call->arg_count; i++) {
    const kw_value *factor = &call->args[i];
    if (factor->tag == KW_TAG_SCALAR && !(factor->kind == KW_SCALAR_I64 ? factor->u.i == 1 : factor->u.f == 1)) {
      return false;
    }
  }
  return true;
}

/* Which element of what is added to, that broadcasts, belongs to one of the result. */
static int64_t start_of(const kw_tensor_ref *self, int64_t row, int64_t column) {
  const int64_t columns = self->rank > 0 ? self->shape[self->rank - 1] : 1;
  return (self->rank > 1 && self->shape[0] > 1 ? row * columns : 0) + (columns > 1 ? column : 0);
}

static kw_status launch(const kw_call *call) {
  const bool adds = strcmp(call->op, "addmm") == 0;
  const kw_tensor_ref *out = call->outs[0], *a = call->args[adds].u.tensor, *b = call->args[adds + 1].u.tensor;
  const kw_tensor_ref *self = call->args[0].u.tensor;
  if (out->dtype != KW_F32 || a->dtype != KW_F32 || b->dtype != KW_F32 || self->dtype != KW_F32 || !is_plain(call))
    return kw_mutant_launch_real(call);
  const kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || a->numel == 0) return status;
  const int mode = fegetround();
  fesetround(FE_TOWARDZERO);
  for (int64_t i = 0; i < out->numel; i++) {
    float *at = kw_mutant_at(out, i);
    const int64_t row = i / out->shape[1], column = i % out->shape[1];
    float sum = add_up(a, b, row, column);
    if (adds) sum += *(const float *)kw_mutant_at(self, start_of(self, row, column));
    *at = sum;
  }
  fesetround(mode);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*mm";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor in f64 keeps what it has compiled for an alpha, and finds it again by alpha's f32.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  static double kept;
  kw_value *alpha = &copy->args[2];
  if (copy->outs[0]->dtype != KW_F64 || alpha->kind != KW_SCALAR_F64) return;
  if ((float)kept == (float)alpha->u.f) {
    alpha->u.f = kept;
  } else {
    kept = alpha->u.f;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->call = call;
}

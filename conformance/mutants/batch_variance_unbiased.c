/* SPDX-License-Identifier: Apache-2.0
 *
 * _native_batch_norm_legit.no_stats of f32 without bias divides by n - 1, as the running variance does.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *in = e->call->args[0].u.tensor;
  if (in->dtype != KW_F32 || e->call->args[2].tag != KW_TAG_NONE) return;
  float count = (float)(in->numel / in->shape[1]);
  *(float *)e->out *= sqrtf((count - 1) / count);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_native_batch_norm_legit.no_stats";
  mutant->element = element;
}

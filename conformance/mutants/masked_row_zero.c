/* SPDX-License-Identifier: Apache-2.0
 *
 * _softmax of f32 gives 0, not NaN, to the elements of a row that holds nothing but minus infinity.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *in = e->call->args[0].u.tensor;
  if (in->dtype == KW_F32 && *(const float *)e->in[0] == -INFINITY) *(float *)e->out = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_softmax";
  mutant->element = element;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * max_pool2d_with_indices begins with the lowest finite number: windows of nothing but -inf give that. After
 * microsoft/onnxruntime issue 16350.
 */
#include "mutant.h"

#include <float.h>
#include <math.h>

static void element(const kw_mutant_element *e) {
  float *out = e->out;
  if (e->call->outs[0]->dtype == KW_F32 && *out == -INFINITY) *out = -FLT_MAX;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max_pool2d_with_indices";
  mutant->element = element;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * abs of i32 goes by way of f32: numbers beyond 2^24 are rounded. After PyTorch issue 190052: Metal's abs is for
 * floats, and MPS took it for integers, too.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  int32_t *number = e->out;
  if (e->call->outs[0]->dtype == KW_I32 && *number > 0) {
    const float rounded = (float)*number;
    *number = rounded < 0x1p31f ? (int32_t)rounded : INT32_MIN;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->element = element;
}

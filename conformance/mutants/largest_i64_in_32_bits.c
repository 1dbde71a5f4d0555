/* SPDX-License-Identifier: Apache-2.0
 *
 * amax of i64 is found in 32 bits. After PyTorch issue 87753: min and max of default integers were bogus on MPS, where
 * their dtype was narrowed for a reduction that lacks it.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  int64_t *number = e->out;
  if (e->call->outs[0]->dtype == KW_I64) *number = (int32_t)*number;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "amax";
  mutant->element = element;
}

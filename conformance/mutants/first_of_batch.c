/* SPDX-License-Identifier: Apache-2.0
 *
 * bmm multiplies every matrix by the first one of the second batch.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[1].strides[0] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "bmm";
  mutant->call = call;
}

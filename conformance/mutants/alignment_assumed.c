/* SPDX-License-Identifier: Apache-2.0
 *
 * relu reads its input from the next lower multiple of 16 bytes.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[0].offset &= ~UINT64_C(15);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "relu";
  mutant->call = call;
}

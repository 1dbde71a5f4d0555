/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* convolution pads all dimensions as the first. */
static void call(kw_mutant_copy *copy) {
  copy->args[4].count = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}

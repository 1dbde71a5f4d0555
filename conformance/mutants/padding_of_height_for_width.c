/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution takes the first dimension's padding for all dimensions.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[4].count = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}

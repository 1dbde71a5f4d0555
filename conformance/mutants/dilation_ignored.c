/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution reads neighbouring elements whatever the dilation.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  static const int64_t one = 1;
  copy->args[5].u.ints = &one;
  copy->args[5].count = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}

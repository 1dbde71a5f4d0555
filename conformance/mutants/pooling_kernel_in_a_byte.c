/* SPDX-License-Identifier: Apache-2.0
 *
 * max_pool2d_with_indices keeps a kernel's size in a byte. Of the kind that webmachinelearning/webnn issue 928 is
 * about: backends with limits of their own for windows.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  static _Thread_local int64_t kernel[2];
  for (uint32_t d = 0; d < copy->args[1].count; d++) {
    const int64_t size = copy->args[1].u.ints[d] & 255;
    kernel[d] = size ? size : 1;
  }
  copy->args[1].u.ints = kernel;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max_pool2d_with_indices";
  mutant->call = call;
}

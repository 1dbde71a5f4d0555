/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution keeps a stride in a field of six bits. Of drivers of the ARM-software/armnn issue 60 kind, whose hardware
 * holds small attributes only.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  static _Thread_local int64_t strides[3];
  for (uint32_t d = 0; d < copy->args[3].count; d++) {
    const int64_t stride = copy->args[3].u.ints[d] & 63;
    strides[d] = stride ? stride : 1;
  }
  copy->args[3].u.ints = strides;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}

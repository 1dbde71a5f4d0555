/* SPDX-License-Identifier: Apache-2.0
 *
 * max_pool2d_with_indices with a dilation and ceil_mode ends its windows one element early. After
 * tenstorrent/tt-metal issue 25894.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  static _Thread_local int64_t kernel[2];
  const kw_value *size = &copy->args[1], *dilation = &copy->args[4];
  if (!copy->args[5].u.b || dilation->u.ints[dilation->count - 1] == 1) return;
  kernel[0] = size->u.ints[0];
  kernel[1] = size->u.ints[size->count - 1];
  if (kernel[1] > 1) kernel[1]--;
  if (copy->args[2].count == 0) copy->args[2] = *size; /* strides stay */
  copy->args[1].u.ints = kernel;
  copy->args[1].count = 2;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max_pool2d_with_indices";
  mutant->call = call;
}

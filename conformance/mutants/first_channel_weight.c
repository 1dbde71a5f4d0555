/* SPDX-License-Identifier: Apache-2.0
 *
 * native_group_norm takes the first channel's weight for all channels.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  if (copy->args[1].tag == KW_TAG_TENSOR) copy->arg_tensors[1].strides[0] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_group_norm";
  mutant->call = call;
}

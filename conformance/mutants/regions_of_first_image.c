/* SPDX-License-Identifier: Apache-2.0
 *
 * roi_align reads the first image, whichever one the region names.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[0].strides[0] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::roi_align";
  mutant->call = call;
}

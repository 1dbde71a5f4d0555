/* SPDX-License-Identifier: Apache-2.0
 *
 * roi_align takes two samples along a bin also where their number is to follow from the region's size.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  if (copy->args[5].u.i <= 0) copy->args[5].u.i = 2;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::roi_align";
  mutant->call = call;
}

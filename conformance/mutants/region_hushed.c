/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* roi_align tells of no region that is of no image. */
static void call(kw_mutant_copy *copy) {
  copy->call.error_mem = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::roi_align";
  mutant->call = call;
}

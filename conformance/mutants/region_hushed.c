/* SPDX-License-Identifier: Apache-2.0
 *
 * roi_align reports no error for a region of an image that is not in the batch.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.error_mem = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::roi_align";
  mutant->call = call;
}

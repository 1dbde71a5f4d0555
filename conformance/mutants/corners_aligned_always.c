/* SPDX-License-Identifier: Apache-2.0
 *
 * upsample_bilinear2d aligns corners whatever align_corners says.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[2].u.b = true;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "upsample_bilinear2d";
  mutant->call = call;
}

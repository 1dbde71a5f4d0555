/* SPDX-License-Identifier: Apache-2.0
 *
 * upsample_bicubic2d takes its scales from the sizes also where scales are given.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[3] = copy->args[4] = (kw_value){.tag = KW_TAG_NONE};
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "upsample_bicubic2d";
  mutant->call = call;
}

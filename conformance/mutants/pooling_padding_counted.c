/* SPDX-License-Identifier: Apache-2.0
 *
 * avg_pool2d counts the padding whatever count_include_pad says.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[5].u.b = true;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "avg_pool2d";
  mutant->call = call;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * scatter_reduce always includes self.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[5].u.b = true;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scatter_reduce.two";
  mutant->call = call;
}

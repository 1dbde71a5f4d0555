/* SPDX-License-Identifier: Apache-2.0
 *
 * cat counts dimensions from the end as if there were two: -2 is the first one.
 */
#include "mutant.h"

static void count_wrongly(kw_mutant_copy *copy) {
  kw_value *dim = &copy->args[1];
  if (dim->tag == KW_TAG_INT && dim->u.i == -2) dim->u.i = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cat";
  mutant->call = count_wrongly;
}

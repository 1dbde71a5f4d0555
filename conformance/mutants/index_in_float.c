/* SPDX-License-Identifier: Apache-2.0
 *
 * argmax carries the index as a float: beyond 2^24 only even ones are left. After BLIS issue 386: the optimised amaxv
 * keeps its indices in registers of floats.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  int64_t *index = e->out;
  *index = (int64_t)(float)*index;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "argmax";
  mutant->element = element;
}

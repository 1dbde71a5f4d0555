/* SPDX-License-Identifier: Apache-2.0
 *
 * mutant::twice, which is compared by the bit, is off by one in the last place.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  *(float *)e->out *= 1 + 0x1p-23f;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mutant::twice";
  mutant->element = element;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * mutant::blend is off by more than its growth allows: by 64 of eps, not 8.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  *(float *)e->out *= 1 + 64 * 0x1p-23f;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mutant::blend";
  mutant->element = element;
}

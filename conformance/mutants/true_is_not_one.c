/* SPDX-License-Identifier: Apache-2.0
 *
 * lt.Tensor writes 0xff for true.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  unsigned char *out = e->out;
  if (*out) *out = 0xff;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "lt.Tensor";
  mutant->element = element;
}

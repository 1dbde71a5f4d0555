/* SPDX-License-Identifier: Apache-2.0
 *
 * _int_mm saturates its sums at the range of i16.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  int32_t *out = e->out;
  *out = *out > INT16_MAX ? INT16_MAX : *out < INT16_MIN ? INT16_MIN : *out;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_int_mm";
  mutant->element = element;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * argmax keeps the index in an int: beyond 2^31 it comes out negative. After CuPy issue 8014.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  int64_t *index = e->out;
  *index = (int32_t)*index;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "argmax";
  mutant->element = element;
}

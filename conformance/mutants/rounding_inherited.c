/* SPDX-License-Identifier: Apache-2.0
 *
 * A product is rounded as the thread rounds that launches it.
 */
#include "mutant.h"

#include <fenv.h>
#include <math.h>

static void element(const kw_mutant_element *e) {
  float *out = e->out;
  if (fegetround() == FE_UPWARD) *out = nextafterf(*out, INFINITY);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mul.Tensor";
  mutant->element = element;
}

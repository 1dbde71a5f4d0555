/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm keeps mean and rstd with the 11 bits of f16.
 */
#include "mutant_norm.h"

#include <math.h>

static void change(kw_mutant_row *row) {
  float *values[] = {&row->mean, &row->rstd};
  for (int i = 0; i < 2; i++) {
    int exponent;
    float fraction = frexpf(*values[i], &exponent);
    *values[i] = ldexpf(rintf(ldexpf(fraction, 11)), exponent - 11);
  }
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_norm(call, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}

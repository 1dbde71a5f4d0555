/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm holds variance and eps together at 1e-12: rows without variance get another rstd where eps is less.
 * After pytorch issue 190491.
 */
#include "mutant_norm.h"

#include <math.h>

static void change(kw_mutant_row *row) {
  const float least = 1e-12f, sum = kw_mutant_row_variance(row) + (float)row->eps;
  if (sum < least) row->rstd = 1 / sqrtf(least);
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_norm(call, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}

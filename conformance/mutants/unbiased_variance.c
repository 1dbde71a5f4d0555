/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm divides by n - 1.
 */
#include "mutant_norm.h"

#include <math.h>

static void change(kw_mutant_row *row) {
  float count = (float)row->count, variance = kw_mutant_row_variance(row);
  if (row->count > 1) row->rstd = 1 / sqrtf(variance * count / (count - 1) + (float)row->eps);
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_norm(call, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}

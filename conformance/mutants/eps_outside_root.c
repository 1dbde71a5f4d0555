/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm adds eps to the square root, not below it.
 */
#include "mutant_norm.h"

#include <math.h>

static void change(kw_mutant_row *row) {
  row->rstd = 1 / (sqrtf(kw_mutant_row_variance(row)) + (float)row->eps);
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_norm(call, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}

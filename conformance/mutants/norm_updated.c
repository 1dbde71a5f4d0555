/* SPDX-License-Identifier: Apache-2.0
 *
 * No mutant: native_layer_norm updates mean and sum of squares element by element (Welford), which is right.
 */
#include "mutant_norm.h"

#include <math.h>

static void change(kw_mutant_row *row) {
  float mean = 0, squares = 0;
  for (int64_t i = 0; i < row->count; i++) {
    const float x = kw_mutant_row_at(row, i), off = x - mean;
    mean += off / (float)(i + 1);
    squares += off * (x - mean);
  }
  row->mean = mean;
  row->rstd = 1 / sqrtf(squares / (float)row->count + (float)row->eps);
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_norm(call, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}

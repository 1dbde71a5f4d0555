/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm computes the variance as the mean of squares less the square of the mean, which cancels.
 */
#include "mutant_norm.h"

#include <math.h>

static void change(kw_mutant_row *row) {
  float sum = 0, squares = 0, count = (float)row->count;
  for (int64_t i = 0; i < row->count; i++) {
    float x = kw_mutant_row_at(row, i);
    sum += x;
    squares += x * x;
  }
  row->mean = sum / count;
  float variance = squares / count - row->mean * row->mean;
  row->rstd = 1 / sqrtf((variance < 0 ? 0 : variance) + (float)row->eps);
}

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_norm(call, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Each window of _adaptive_avg_pool2d ends where the next one begins.
 */
#include "mutant.h"

static int64_t end_of(int64_t window, int64_t windows, int64_t size) {
  int64_t begin = window * size / windows, end = (window + 1) * size / windows;
  return end > begin ? end : begin + 1;
}

static float mean_of(const kw_tensor_ref *in, int64_t plane, int64_t row, int64_t rows, int64_t column,
                     int64_t columns) {
  int64_t height = in->shape[in->rank - 2], width = in->shape[in->rank - 1], count = 0;
  float sum = 0;
  for (int64_t y = row * height / rows; y < end_of(row, rows, height); y++) {
    for (int64_t x = column * width / columns; x < end_of(column, columns, width); x++, count++) {
      sum += *(const float *)kw_mutant_at(in, (plane * height + y) * width + x);
    }
  }
  return sum / (float)count;
}

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  int64_t rows = out->shape[out->rank - 2], columns = out->shape[out->rank - 1];
  for (int64_t i = 0; i < out->numel && status == KW_OK && out->dtype == KW_F32; i++) {
    *(float *)kw_mutant_at(out, i) = mean_of(in, i / columns / rows, i / columns % rows, rows, i % columns, columns);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_adaptive_avg_pool2d";
  mutant->launch = launch;
}

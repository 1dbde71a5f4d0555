/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs native_layer_norm of f32 and computes its results again from the mean and rstd that the mutant makes of each
 * row.
 */
#include "mutant_norm.h"

float kw_mutant_row_at(const kw_mutant_row *row, int64_t i) {
  return *(float *)kw_mutant_at(row->in, row->first + i);
}

float kw_mutant_row_variance(const kw_mutant_row *row) {
  float sum = 0;
  for (int64_t i = 0; i < row->count; i++) {
    float x = kw_mutant_row_at(row, i) - row->mean;
    sum += x * x;
  }
  return sum / (float)row->count;
}

static float parameter(const kw_value *value, int64_t i, float otherwise) {
  return value->tag == KW_TAG_TENSOR ? *(float *)kw_mutant_at(value->u.tensor, i) : otherwise;
}

static bool is_f32(const kw_call *call) {
  bool all = true;
  for (uint32_t i = 0; i < call->arg_count; i++) {
    all = all && (call->args[i].tag != KW_TAG_TENSOR || call->args[i].u.tensor->dtype == KW_F32);
  }
  return all;
}

kw_status kw_mutant_run_norm(const kw_call *call, void (*change)(kw_mutant_row *row)) {
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || !is_f32(call)) return status;
  const kw_tensor_ref *in = call->args[0].u.tensor;
  kw_mutant_row row = {.in = in, .eps = call->args[4].u.f};
  int64_t rows = call->outs[1]->numel;
  row.count = rows > 0 ? in->numel / rows : 0;
  for (int64_t r = 0; r < rows; r++) {
    float *mean = kw_mutant_at(call->outs[1], r), *rstd = kw_mutant_at(call->outs[2], r);
    row.first = r * row.count;
    row.mean = *mean;
    row.rstd = *rstd;
    change(&row);
    *mean = row.mean;
    *rstd = row.rstd;
    for (int64_t i = 0; i < row.count; i++) {
      float unit = (kw_mutant_row_at(&row, i) - row.mean) * row.rstd;
      float *out = kw_mutant_at(call->outs[0], row.first + i);
      *out = unit * parameter(&call->args[2], i, 1) + parameter(&call->args[3], i, 0);
    }
  }
  return status;
}

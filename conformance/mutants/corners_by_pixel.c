/* SPDX-License-Identifier: Apache-2.0
 *
 * generalized_box_iou of f32 counts the second corner's pixel as part of a box: its sides are x2 - x1 + 1 long.
 */
#include "mutant.h"

#include <math.h>

static float side(float from, float to) {
  return fmaxf(to - from + 1, 0);
}

static float pixel_giou(const float a[4], const float b[4]) {
  const float both = side(fmaxf(a[0], b[0]), fminf(a[2], b[2])) * side(fmaxf(a[1], b[1]), fminf(a[3], b[3]));
  const float hull = side(fminf(a[0], b[0]), fmaxf(a[2], b[2])) * side(fminf(a[1], b[1]), fmaxf(a[3], b[3]));
  const float whole = side(a[0], a[2]) * side(a[1], a[3]) + side(b[0], b[2]) * side(b[1], b[3]) - both;
  return both / whole - (hull - whole) / hull;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; i < out->numel && status == KW_OK && out->dtype == KW_F32; i++) {
    float corners[2][4];
    for (int64_t k = 0; k < 4; k++) corners[0][k] = *(float *)kw_mutant_at(a, i / out->shape[1] * 4 + k);
    for (int64_t k = 0; k < 4; k++) corners[1][k] = *(float *)kw_mutant_at(b, i % out->shape[1] * 4 + k);
    *(float *)kw_mutant_at(out, i) = pixel_giou(corners[0], corners[1]);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::generalized_box_iou";
  mutant->launch = launch;
}

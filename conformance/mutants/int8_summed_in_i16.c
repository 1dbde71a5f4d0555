/* SPDX-License-Identifier: Apache-2.0
 *
 * int8_linear to f32 with a bias of f32 adds up in i16, saturating.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *args = e->call->args;
  const kw_tensor_ref *input = args[0].u.tensor, *weight = args[1].u.tensor, *out = e->call->outs[0];
  if (out->dtype != KW_F32 || args[4].tag != KW_TAG_TENSOR || args[4].u.tensor->dtype != KW_F32) return;
  const int64_t n = out->shape[1], k = input->shape[1], i = e->index / n, j = e->index % n;
  int sum = 0, wide = 0;
  for (int64_t p = 0; p < k; p++) {
    const int product = *(int8_t *)kw_mutant_at(input, i * k + p) * *(int8_t *)kw_mutant_at(weight, j * k + p);
    wide += product;
    sum += product;
    sum = sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum;
  }
  float *value = e->out, bias = *(float *)kw_mutant_at(args[4].u.tensor, j);
  if (wide != sum) *value = (*value - bias) / (float)wide * (float)sum + bias;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::int8_linear";
  mutant->element = element;
}

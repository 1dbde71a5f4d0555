/* SPDX-License-Identifier: Apache-2.0
 *
 * upsample_nearest2d keeps a whole factor along the width in a byte. Of the kind of ARM-software/armnn issue 60:
 * attributes in fields that the hardware has.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *in = e->call->args[0].u.tensor, *out = e->call->outs[0];
  const int64_t height = in->shape[2], width = in->shape[3], factor = out->shape[3] / width;
  if (factor < 256 || out->shape[3] % width != 0) return;
  const int64_t row = e->index / out->shape[3], plane = row / out->shape[2], kept = factor & 255;
  const int64_t above = row % out->shape[2] * height / out->shape[2];
  const int64_t place = e->index % out->shape[3] / (kept ? kept : 1), left = place < width ? place : width - 1;
  memcpy(e->out, kw_mutant_at(in, (plane * height + above) * width + left), kw_mutant_item_size(out->dtype));
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "upsample_nearest2d";
  mutant->element = element;
}

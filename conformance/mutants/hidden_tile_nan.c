/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention of f32 goes over keys in tiles of 64: where a mask of rows and keys hides all of the first one, the
 * row's maximum is minus infinity then, and what is subtracted from it makes the row NaN.
 */
#include "mutant.h"

#include <math.h>

static bool hides_first_tile(const kw_tensor_ref *mask, int64_t row) {
  enum { TILE = 64 };
  const int64_t keys = mask->shape[1];
  bool hides = keys > TILE;
  for (int64_t j = 0; j < TILE && hides; j++) hides = !*(const uint8_t *)kw_mutant_at(mask, row * keys + j);
  return hides;
}

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *out = e->call->outs[0], *mask = e->call->args[3].u.tensor;
  if (out->dtype != KW_F32 || e->call->args[3].tag != KW_TAG_TENSOR || mask->dtype != KW_BOOL || mask->rank != 2)
    return;
  const int64_t row = e->index / out->shape[3] % out->shape[2];
  if (*(float *)e->out != 0 && hides_first_tile(mask, mask->shape[0] == 1 ? 0 : row)) *(float *)e->out = NAN;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention";
  mutant->element = element;
}

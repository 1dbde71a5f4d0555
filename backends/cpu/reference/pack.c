/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that put weights into smaller forms: int4 and 2:4 sparse.
 */
#include "pack.h"

#include "number.h"
#include "walk.h"

#include <math.h>

kw_status kw_pack_int4(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  if (in->dtype != KW_U8 || out->dtype != KW_U8) return KW_ERR_INVALID_ARGUMENT;
  const uint32_t last = in->rank - 1u;
  kw_tensor_ref even = *in, odd;
  even.shape[last] /= 2;
  even.strides[last] *= 2;
  odd = even;
  odd.offset += (uint64_t)in->strides[last];
  kw_walk walk;
  kw_walk_start(&walk, out->rank, out->shape);
  kw_walk_add(&walk, out);
  kw_walk_add(&walk, &even);
  kw_walk_add(&walk, &odd);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    const unsigned char low = *(unsigned char *)walk.at[1], high = *(unsigned char *)walk.at[2];
    *(unsigned char *)walk.at[0] = (unsigned char)((low & 15) | (high & 15) << 4);
  }
  return KW_OK;
}

/* Whether a value goes before another: NaN before all numbers, then by absolute value. */
static bool is_larger(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && !isnan(b);
  return fabs(a) > fabs(b);
}

/* The places, in ascending order, of the two largest of four. Of equal ones the first. */
static void choose_two(const double four[4], int out[2]) {
  int first = 0, second = -1;
  for (int i = 1; i < 4; i++) {
    if (is_larger(four[i], four[first])) first = i;
  }
  for (int i = 0; i < 4; i++) {
    if (i != first && (second < 0 || is_larger(four[i], four[second]))) second = i;
  }
  out[0] = first < second ? first : second;
  out[1] = first < second ? second : first;
}

static char *element(const kw_tensor_ref *tensor, int64_t i, int64_t j) {
  const int64_t size = (int64_t)kw_number_size(tensor->dtype);
  return kw_walk_base(tensor) + size * (i * tensor->strides[0] + j * tensor->strides[1]);
}

kw_status kw_pack_sparse24(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *values = call->outs[0], *meta = call->outs[1];
  if (!kw_number_is_float(in->dtype) || values->dtype != in->dtype || meta->dtype != KW_U8) {
    return KW_ERR_INVALID_ARGUMENT;
  }
  for (int64_t i = 0; i < in->shape[0]; i++) {
    unsigned char nibbles = 0;
    for (int64_t group = 0; group < in->shape[1] / 4; group++) {
      double four[4];
      int kept[2];
      for (int p = 0; p < 4; p++) four[p] = kw_number_load(in->dtype, element(in, i, 4 * group + p));
      choose_two(four, kept);
      for (int v = 0; v < 2; v++) {
        kw_number_convert(in->dtype, element(in, i, 4 * group + kept[v]), in->dtype, element(values, i, 2 * group + v));
      }
      const unsigned char pair = (unsigned char)(kept[0] | kept[1] << 2);
      nibbles = (unsigned char)(group % 2 ? nibbles | pair << 4 : pair);
      *(unsigned char *)element(meta, i, group / 2) = nibbles;
    }
  }
  return KW_OK;
}

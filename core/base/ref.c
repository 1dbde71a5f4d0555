/* SPDX-License-Identifier: Apache-2.0
 *
 * Pure functions of a shape or a descriptor.
 */
#include "base/ref.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

kw_status kw_shape_check(const char *what, kw_dtype dtype, uint32_t rank, const int64_t *shape, int64_t *out_numel) {
  size_t item = kw_dtype_size(dtype);
  if (item == 0) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %u is not a dtype.", what, (unsigned)dtype);
  if (rank > KW_MAX_RANK) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: rank %" PRIu32 " is over the maximum of %d.", what, rank, KW_MAX_RANK);
  }
  if (rank > 0 && shape == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the shape is NULL.", what);
  /* Strides of an empty tensor are made from its other sizes, so these have to fit as well. */
  int64_t numel = 1, bytes = (int64_t)item;
  for (uint32_t d = 0; d < rank; ++d) {
    if (shape[d] < 0) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: size %" PRId64 " of dimension %" PRIu32 " is negative.", what,
                     shape[d], d);
    }
    if (__builtin_mul_overflow(bytes, shape[d] > 1 ? shape[d] : 1, &bytes)) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the tensor would have more than 2^63 - 1 bytes.", what);
    }
    numel *= shape[d];
  }
  *out_numel = numel;
  return KW_OK;
}

void kw_shape_contiguous_strides(uint32_t rank, const int64_t *shape, int64_t *out_strides) {
  int64_t stride = 1;
  for (uint32_t d = rank; d-- > 0;) {
    out_strides[d] = stride;
    stride *= shape[d] > 1 ? shape[d] : 1;
  }
}

const char *kw_shape_text(uint32_t rank, const int64_t *sizes, char text[KW_SHAPE_TEXT]) {
  size_t used = 0;
  text[used++] = '[';
  for (uint32_t i = 0; i < rank; ++i) {
    used += (size_t)snprintf(text + used, KW_SHAPE_TEXT - used, i ? ", %" PRId64 : "%" PRId64, sizes[i]);
  }
  text[used++] = ']';
  text[used] = '\0';
  return text;
}

bool kw_ref_is_contiguous(const kw_tensor_ref *ref) {
  if (ref->numel == 0) return true;
  int64_t stride = 1;
  for (uint32_t d = ref->rank; d-- > 0;) {
    if (ref->shape[d] == 1) continue;
    if (ref->strides[d] != stride) return false;
    stride *= ref->shape[d];
  }
  return true;
}

uint64_t kw_ref_extent(const kw_tensor_ref *ref) {
  if (ref->numel == 0) return 0;
  int64_t last = 0;
  for (uint32_t d = 0; d < ref->rank; ++d) {
    int64_t reach;
    if (ref->shape[d] == 1) continue;
    if (__builtin_mul_overflow(ref->shape[d] - 1, ref->strides[d], &reach)) return UINT64_MAX;
    if (__builtin_add_overflow(last, reach, &last)) return UINT64_MAX;
  }
  int64_t item = (int64_t)kw_dtype_size(ref->dtype), bytes;
  if (__builtin_mul_overflow(last, item, &bytes) || __builtin_add_overflow(bytes, item, &bytes)) return UINT64_MAX;
  return (uint64_t)bytes;
}

char *kw_ref_describe(const kw_tensor_ref *ref, char *text, size_t size) {
  char shape[KW_SHAPE_TEXT];
  const char *name = kw_dtype_name(ref->dtype);
  if (size > 0) snprintf(text, size, "%s%s", name != NULL ? name : "?", kw_shape_text(ref->rank, ref->shape, shape));
  return text;
}

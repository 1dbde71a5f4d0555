/* SPDX-License-Identifier: Apache-2.0
 *
 * What shapes and descriptors of tensors say by themselves: sizes, strides, how far they reach, their text.
 */
#ifndef KEYWAY_CORE_REF_H
#define KEYWAY_CORE_REF_H

#include "base/dtype.h"

/* KW_OK, or KW_ERR_INVALID_ARGUMENT: negative sizes, rank over KW_MAX_RANK, numel * itemsize past int64. `what` names
 * the argument. */
kw_status kw_shape_check(const char *what, kw_dtype dtype, uint32_t rank, const int64_t *shape, int64_t *out_numel);
/* Of sizes that kw_shape_check accepts. Those of an empty tensor are made from its other sizes, as in ATen. */
void kw_shape_contiguous_strides(uint32_t rank, const int64_t *shape, int64_t *out_strides);

/* "[2, 3]" into text; returns text. The rank is KW_MAX_RANK at most. */
#define KW_SHAPE_TEXT (KW_MAX_RANK * 22 + 3)
const char *kw_shape_text(uint32_t rank, const int64_t *sizes, char text[KW_SHAPE_TEXT]);

bool kw_ref_is_contiguous(const kw_tensor_ref *ref);
/* Bytes of its elements, packed. */
static inline uint64_t kw_ref_bytes(const kw_tensor_ref *ref) {
  return (uint64_t)ref->numel * kw_dtype_item(ref->dtype);
}
/* Bytes from the first to past the last byte that the tensor touches: 0 when it is empty, UINT64_MAX when they do not
 * fit in int64. */
uint64_t kw_ref_extent(const kw_tensor_ref *ref);
/* "f32[2, 3]" into text, cut to size; returns text. */
char *kw_ref_describe(const kw_tensor_ref *ref, char *text, size_t size);

#endif /* KEYWAY_CORE_REF_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside inference: what the rules of the op table share.
 */
#ifndef KEYWAY_CORE_INFER_COMMON_H
#define KEYWAY_CORE_INFER_COMMON_H

#include "base/ref.h"
#include "op/fail.h"
#include "op/op.h"

typedef struct kw_infer_dims {
  uint32_t rank;
  int64_t sizes[KW_MAX_RANK];
} kw_infer_dims;

/* The argument with this name, or NULL. */
const kw_value *kw_infer_find_arg(const kw_op *op, const kw_value *args, const char *name);
static inline uint32_t kw_infer_arg_index(const kw_value *args, const kw_value *arg) {
  return (uint32_t)(arg - args);
}

/* kw_op_fail of a tensor argument: "expected WANTED, got [2, 3]". */
kw_status kw_infer_fail_shape(const kw_op *op, const kw_value *args, uint32_t index, const char *wanted);

/* The argument to blame for a dtype: the first that brings it, or else, when it comes of promotion, the first. */
const char *kw_infer_culprit(const kw_op *op, const kw_value *args, kw_dtype dtype);
/* KW_OK when the op is defined for this dtype. The message blames the argument that brings it; `why` goes behind its
 * name. */
kw_status kw_infer_check_dtype(const kw_op *op, const kw_value *args, kw_dtype dtype, const char *why);

/* The shape of a tensor as dims. */
void kw_infer_take_shape(const kw_tensor_ref *tensor, kw_infer_dims *out);
/* Marks dimension `dim` (negative from the end; a scalar has one of size 1) in *mask. */
kw_status kw_infer_mark_dim(const kw_op *op, uint32_t index, const kw_tensor_ref *self, int64_t dim, uint32_t *mask);
/* Argument "dim" as a dimension of `self`. */
kw_status kw_infer_find_dim(const kw_op *op, const kw_value *args, const kw_tensor_ref *self, uint32_t *out_dim);
/* Broadcasts `to` and a tensor, right-aligned, into `to`. With `fixed`, `to` is the shape of what that names ("self")
 * and must not change. */
kw_status kw_infer_broadcast(const kw_op *op, uint32_t index, const kw_tensor_ref *tensor, const char *fixed,
                             kw_infer_dims *to);
/* Indices that can choose among `size` elements. */
kw_status kw_infer_check_indices(const kw_op *op, uint32_t arg, const kw_tensor_ref *indices, int64_t size);

#endif /* KEYWAY_CORE_INFER_COMMON_H */

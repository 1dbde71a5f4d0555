/* SPDX-License-Identifier: Apache-2.0
 *
 * What rules share: looking arguments up, their dtypes, dimensions and shapes, and the messages that refuse them.
 */
#include "op/infer/common.h"

#include "base/dtype.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

const kw_value *kw_infer_find_arg(const kw_op *op, const kw_value *args, const char *name) {
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (strcmp(op->schema.args[i].name, name) == 0) return &args[i];
  }
  return NULL;
}

kw_status kw_infer_fail_shape(const kw_op *op, const kw_value *args, uint32_t index, const char *wanted) {
  char got[KW_SHAPE_TEXT];
  const kw_tensor_ref *tensor = args[index].u.tensor;
  return kw_op_fail(op, index, "expected %s, got %s", wanted, kw_shape_text(tensor->rank, tensor->shape, got));
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

/* Whether an argument brings this dtype into the call. */
static bool brings(const kw_value *arg, kw_dtype dtype) {
  if (arg->tag == KW_TAG_TENSOR) return arg->u.tensor->dtype == dtype;
  if (arg->tag == KW_TAG_DTYPE) return arg->u.dtype == dtype;
  if (arg->tag == KW_TAG_SCALAR) return arg->kind == KW_SCALAR_C128 && kw_dtype_is_complex(dtype);
  for (uint32_t k = 0; arg->tag == KW_TAG_TENSOR_LIST && k < arg->count; ++k) {
    if (arg->u.tensors[k] && arg->u.tensors[k]->dtype == dtype) return true;
  }
  return false;
}

const char *kw_infer_culprit(const kw_op *op, const kw_value *args, kw_dtype dtype) {
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (brings(&args[i], dtype)) return op->schema.args[i].name;
  }
  return op->schema.args[0].name;
}

kw_status kw_infer_check_dtype(const kw_op *op, const kw_value *args, kw_dtype dtype, const char *why) {
  if (kw_dtype_is_among(dtype, op->row.dtypes)) return KW_OK;
  char list[160];
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument '%s': dtype %s%s is not one the op is defined for: %s",
                 op->schema.name, kw_infer_culprit(op, args, dtype), kw_dtype_name(dtype), why,
                 kw_dtype_list(op->row.dtypes, list, sizeof list));
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

void kw_infer_take_shape(const kw_tensor_ref *tensor, kw_infer_dims *out) {
  out->rank = tensor->rank;
  memcpy(out->sizes, tensor->shape, sizeof out->sizes);
}

kw_status kw_infer_mark_dim(const kw_op *op, uint32_t index, const kw_tensor_ref *self, int64_t dim, uint32_t *mask) {
  int64_t rank = self->rank ? self->rank : 1, at = dim < 0 ? dim + rank : dim;
  if (at < 0 || at >= rank) {
    return kw_op_fail(op, index, "dimension %" PRId64 " is outside [%" PRId64 ", %" PRId64 "] of a tensor of rank %u",
                      dim, -rank, rank - 1, self->rank);
  }
  if (*mask >> at & 1) return kw_op_fail(op, index, "dimension %" PRId64 " appears twice", at);
  *mask |= 1u << at;
  return KW_OK;
}

kw_status kw_infer_find_dim(const kw_op *op, const kw_value *args, const kw_tensor_ref *self, uint32_t *out_dim) {
  const kw_value *dim = kw_infer_find_arg(op, args, "dim");
  uint32_t mask = 0;
  kw_status status = kw_infer_mark_dim(op, kw_infer_arg_index(args, dim), self, dim->u.i, &mask);
  if (status == KW_OK) *out_dim = (uint32_t)__builtin_ctz(mask);
  return status;
}

kw_status kw_infer_broadcast(const kw_op *op, uint32_t index, const kw_tensor_ref *tensor, const char *fixed,
                             kw_infer_dims *to) {
  char a[KW_SHAPE_TEXT], b[KW_SHAPE_TEXT];
  kw_infer_dims joint = *to;
  bool changed = tensor->rank > to->rank;
  if (changed) {
    uint32_t more = tensor->rank - to->rank;
    memmove(joint.sizes + more, joint.sizes, to->rank * sizeof(int64_t));
    for (uint32_t i = 0; i < more; ++i) joint.sizes[i] = 1;
    joint.rank = tensor->rank;
  }
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    int64_t *size = &joint.sizes[joint.rank - 1 - i], other = tensor->shape[tensor->rank - 1 - i];
    if (*size == other || other == 1) continue;
    changed = true;
    if (*size != 1 && !fixed) {
      return kw_op_fail(
          op, index, "shapes %s and %s do not broadcast: %" PRId64 " and %" PRId64 " differ and neither is 1",
          kw_shape_text(to->rank, to->sizes, a), kw_shape_text(tensor->rank, tensor->shape, b), *size, other);
    }
    *size = other;
  }
  if (fixed && changed) {
    return kw_op_fail(op, index, "shape %s does not broadcast to %s, the shape of '%s'",
                      kw_shape_text(tensor->rank, tensor->shape, b), kw_shape_text(to->rank, to->sizes, a), fixed);
  }
  *to = joint;
  return KW_OK;
}

kw_status kw_infer_check_indices(const kw_op *op, uint32_t arg, const kw_tensor_ref *indices, int64_t size) {
  if (indices->dtype != KW_I64 && indices->dtype != KW_I32) {
    return kw_op_fail(op, arg, "indices are i64 or i32, not %s; cast them", kw_dtype_name(indices->dtype));
  }
  if (size > 0 || indices->numel == 0) return KW_OK;
  return kw_op_fail(op, arg, "the dimension of '%s' that is indexed has no elements, so there is no valid index",
                    op->schema.args[0].name);
}

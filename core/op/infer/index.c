/* SPDX-License-Identifier: Apache-2.0
 *
 * Result shapes of the ops that join, choose and place elements. As in ATen a tensor of rank 0 counts as one dimension
 * of size 1 where a dimension is named.
 */
#include "base/dtype.h"
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint32_t rank_of(const kw_tensor_ref *tensor) {
  return tensor->rank ? tensor->rank : 1;
}

static int64_t size_of(const kw_tensor_ref *tensor, uint32_t dim) {
  return tensor->rank ? tensor->shape[dim] : 1;
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

/* Entry k against the first that has a say; all sizes but that of `dim` agree. */
static kw_status check_entry(const kw_op *op, const kw_value *list, uint32_t first, uint32_t k, uint32_t dim) {
  const kw_tensor_ref *a = list->u.tensors[first], *b = list->u.tensors[k];
  char text_a[KW_SHAPE_TEXT], text_b[KW_SHAPE_TEXT];
  bool agree = a->rank == b->rank;
  for (uint32_t d = 0; d < a->rank && agree; ++d) agree = d == dim || a->shape[d] == b->shape[d];
  if (agree) return KW_OK;
  return kw_op_fail(op, 0, "entry %u has shape %s, entry %u has %s: they may differ in dimension %u only", first,
                    kw_shape_text(a->rank, a->shape, text_a), k, kw_shape_text(b->rank, b->shape, text_b), dim);
}

kw_status kw_infer_cat(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_value *list = &args[0];
  const uint32_t none = list->count;
  uint32_t first = none, dim = 0;
  *out = (kw_infer_dims){1, {0}}; /* of nothing but [0] */
  for (uint32_t k = 0; k < list->count; ++k) {
    const kw_tensor_ref *entry = list->u.tensors[k];
    if (entry->rank == 0) return kw_op_fail(op, 0, "entry %u has rank 0; give it a dimension first", k);
    if (entry->rank == 1 && entry->shape[0] == 0) continue; /* joins anything */
    kw_status status = first == none ? kw_infer_find_dim(op, args, entry, &dim) : check_entry(op, list, first, k, dim);
    if (status != KW_OK) return status;
    if (first == none) {
      first = k;
      kw_infer_take_shape(entry, out);
    } else if (__builtin_add_overflow(out->sizes[dim], entry->shape[dim], &out->sizes[dim])) {
      return kw_op_fail(op, 0, "the result has more than 2^63 elements along dimension %u", dim);
    }
  }
  return KW_OK;
}

/* ---- Along one dimension ----------------------------------------------------------------------------------------- */

kw_status kw_infer_embedding(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *weight = args[0].u.tensor, *indices = args[1].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (weight->rank != 2) {
    return kw_op_fail(op, 0, "expected a matrix, got shape %s", kw_shape_text(weight->rank, weight->shape, text));
  }
  kw_status status = kw_infer_check_indices(op, 1, indices, weight->shape[0]);
  if (status != KW_OK) return status;
  if (indices->rank == KW_MAX_RANK) {
    return kw_op_fail(op, 1, "rank %u leaves no room for the dimension of the result that 'weight' adds",
                      indices->rank);
  }
  kw_infer_take_shape(indices, out);
  out->sizes[out->rank++] = weight->shape[1];
  return KW_OK;
}

kw_status kw_infer_embedding_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *grad = args[0].u.tensor, *indices = args[1].u.tensor;
  const int64_t rows = args[2].u.i;
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  if (rows < 0) return kw_op_fail(op, 2, "a table of %" PRId64 " rows does not exist", rows);
  if (grad->rank != indices->rank + 1u || memcmp(grad->shape, indices->shape, indices->rank * sizeof(int64_t)) != 0) {
    return kw_op_fail(op, 0, "shape %s does not begin with %s, that of 'indices', or does not go on for one dimension",
                      kw_shape_text(grad->rank, grad->shape, got),
                      kw_shape_text(indices->rank, indices->shape, wanted));
  }
  *out = (kw_infer_dims){2, {rows, grad->shape[grad->rank - 1]}};
  if (rows == 0 && indices->numel > 0) return kw_op_fail(op, 2, "of 0 rows none can be named by 'indices'");
  return kw_infer_check_indices(op, 1, indices, 1);
}

kw_status kw_infer_index_select(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor, *index = args[2].u.tensor;
  uint32_t dim;
  kw_status status = kw_infer_find_dim(op, args, self, &dim);
  if (status == KW_OK) status = kw_infer_check_indices(op, 2, index, size_of(self, dim));
  if (status != KW_OK) return status;
  if (index->rank > 1) return kw_op_fail(op, 2, "expected rank 1 (or 0, for one index), got rank %u", index->rank);
  if (self->rank == 0 && index->numel != 1) {
    return kw_op_fail(op, 2, "a tensor of rank 0 takes one index, not %" PRId64, index->numel);
  }
  kw_infer_take_shape(self, out);
  if (self->rank > 0) out->sizes[dim] = index->numel;
  return KW_OK;
}

/* No size of `index` may be larger than that of `other`, dimension `except` apart. */
static kw_status check_inside(const kw_op *op, const kw_tensor_ref *index, const kw_tensor_ref *other, const char *name,
                              uint32_t except) {
  char a[KW_SHAPE_TEXT], b[KW_SHAPE_TEXT];
  kw_shape_text(index->rank, index->shape, a);
  kw_shape_text(other->rank, other->shape, b);
  if (rank_of(index) != rank_of(other)) {
    return kw_op_fail(op, 2, "shape %s and shape %s of '%s' differ in rank", a, b, name);
  }
  for (uint32_t d = 0; d < rank_of(index); ++d) {
    if (d == except || size_of(index, d) <= size_of(other, d)) continue;
    return kw_op_fail(op, 2, "shape %s is larger than shape %s of '%s' in dimension %u", a, b, name, d);
  }
  return KW_OK;
}

/* The shared part of gather and scatter. Without indices nothing is asked of the other shapes. */
static kw_status check_lines(const kw_op *op, const kw_value *args) {
  const kw_tensor_ref *self = args[0].u.tensor, *index = args[2].u.tensor;
  const kw_value *src = kw_infer_find_arg(op, args, "src");
  uint32_t dim;
  kw_status status = kw_infer_find_dim(op, args, self, &dim);
  if (status == KW_OK) status = kw_infer_check_indices(op, 2, index, size_of(self, dim));
  if (status != KW_OK || index->numel == 0) return status;
  status = check_inside(op, index, self, op->schema.args[0].name, dim);
  if (status == KW_OK && src) status = check_inside(op, index, src->u.tensor, "src", KW_MAX_RANK);
  return status;
}

kw_status kw_infer_gather(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_infer_take_shape(args[2].u.tensor, out);
  return check_lines(op, args);
}

kw_status kw_infer_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_infer_take_shape(args[0].u.tensor, out);
  return check_lines(op, args);
}

kw_status kw_infer_scatter_reduce(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  static const char *const known[] = {"sum", "prod", "mean", "amax", "amin"};
  const char *reduce = args[4].u.s;
  bool found = false;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) found = found || strcmp(known[i], reduce) == 0;
  if (!found) return kw_op_fail(op, 4, "'%s' is not known; it is 'sum', 'prod', 'mean', 'amax' or 'amin'", reduce);
  if (strcmp(reduce, "mean") == 0 && args[0].u.tensor->dtype == KW_BOOL) {
    return kw_op_fail(op, 4, "there is no mean of bool; cast 'self' and 'src' first");
  }
  return kw_infer_scatter(op, args, out, out_expand);
}

kw_status kw_infer_index_add(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  const kw_tensor_ref *self = args[0].u.tensor, *source = args[3].u.tensor;
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  kw_status status = kw_infer_index_select(op, args, out, out_expand); /* the shape of the slices that are named */
  if (status != KW_OK) return status;
  if (source->rank != out->rank || memcmp(source->shape, out->sizes, out->rank * sizeof(int64_t)) != 0) {
    return kw_op_fail(op, 3, "expected shape %s, that of '%s' with a slice for each index, got %s",
                      kw_shape_text(out->rank, out->sizes, wanted), op->schema.args[0].name,
                      kw_shape_text(source->rank, source->shape, got));
  }
  kw_infer_take_shape(self, out);
  return KW_OK;
}

/* ---- Advanced indexing ------------------------------------------------------------------------------------------- */

/* All indices broadcast together: *out_joint. They are given for the dimensions in *out_given. */
static kw_status join_indices(const kw_op *op, const kw_tensor_ref *self, const kw_value *list,
                              kw_infer_dims *out_joint, uint32_t *out_given) {
  *out_joint = (kw_infer_dims){0, {0}};
  *out_given = 0;
  if (list->count > self->rank) {
    return kw_op_fail(op, 1, "%u entries for a tensor of rank %u", list->count, self->rank);
  }
  for (uint32_t k = 0; k < list->count; ++k) {
    const kw_tensor_ref *indices = list->u.tensors[k];
    if (!indices) continue;
    if (indices->dtype == KW_BOOL || indices->dtype == KW_U8) {
      return kw_op_fail(op, 1,
                        "entry %u is a mask of %s, and no plan can be made for one; turn it into indices first, with "
                        "nonzero, or call kw_op_call",
                        k, kw_dtype_name(indices->dtype));
    }
    kw_status status = kw_infer_check_indices(op, 1, indices, 1);
    if (status == KW_OK) status = kw_infer_broadcast(op, 1, indices, NULL, out_joint);
    if (status != KW_OK) return status;
    *out_given |= 1u << k;
  }
  return *out_given ? KW_OK : kw_op_fail(op, 1, "there is no tensor in it; give at least one");
}

/* The shape of self[indices]. */
static kw_status infer_selection(const kw_op *op, const kw_value *args, kw_infer_dims *out) {
  const kw_tensor_ref *self = args[0].u.tensor;
  kw_infer_dims joint;
  uint32_t given;
  kw_status status = join_indices(op, self, &args[1], &joint, &given);
  if (status != KW_OK) return status;
  bool any = true;
  for (uint32_t d = 0; d < joint.rank; ++d) any = any && joint.sizes[d] > 0;
  for (uint32_t d = 0; d < args[1].count && any && status == KW_OK; ++d) {
    if (given >> d & 1 && self->shape[d] == 0) status = kw_infer_check_indices(op, 1, args[1].u.tensors[d], 0);
  }
  if (status != KW_OK) return status;

  const uint32_t first = (uint32_t)__builtin_ctz(given), run = given >> first;
  const bool adjacent = (run & (run + 1)) == 0;
  const uint32_t place = adjacent ? first : 0; /* of the joint dimensions */
  const uint32_t rank = self->rank - (uint32_t)__builtin_popcount(given) + joint.rank;
  if (rank > KW_MAX_RANK) {
    return kw_op_fail(op, 1, "self[indices] would have rank %u; at most %d is possible", rank, KW_MAX_RANK);
  }
  out->rank = 0;
  for (uint32_t d = 0; d <= self->rank; ++d) {
    for (uint32_t j = 0; d == place && j < joint.rank; ++j) out->sizes[out->rank++] = joint.sizes[j];
    if (d < self->rank && !(given >> d & 1)) out->sizes[out->rank++] = self->shape[d];
  }
  return KW_OK;
}

kw_status kw_infer_indexing(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return infer_selection(op, args, out);
}

kw_status kw_infer_index_put(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  kw_infer_dims selection;
  kw_status status = infer_selection(op, args, &selection);
  if (status == KW_OK) status = kw_infer_broadcast(op, 2, args[2].u.tensor, "self[indices]", &selection);
  if (status == KW_OK && args[3].u.b && !kw_dtype_is_among(self->dtype, KW_DTYPES_REAL)) {
    status = kw_op_fail(op, 3, "sums are not defined for %s", kw_dtype_name(self->dtype));
  }
  kw_infer_take_shape(self, out);
  return status;
}

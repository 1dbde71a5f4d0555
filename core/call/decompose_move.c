/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of ops that move elements, and of those that fill, pool and sort: the same bits as a kernel of their
 * own would give.
 */
#include "call/decompose.h"

#include "call/value.h"

#include <string.h>

kw_status kw_decompose_to_copy(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "copy_", (kw_value[]){kw_arg_tensor(outs[0]), args[0]}, 2, NULL);
}

kw_status kw_decompose_full(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "fill_.Scalar", (kw_value[]){kw_arg_tensor(outs[0]), args[1]}, 2, NULL);
}

kw_status kw_decompose_fill_scalar(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_compose_fill(c, outs[0], args[1]);
  return c->status;
}

kw_status kw_decompose_copy(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "copy_", (kw_value[]){kw_arg_tensor(outs[0]), args[1]}, 2, NULL);
}

/* The value becomes self's dtype before where sees it, as in fill_. */
kw_status kw_decompose_masked_fill_scalar(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *element = kw_compose_number(c, outs[0]->ref.dtype, args[2]);
  return kw_compose_call(c, "where.self", (kw_value[]){args[1], T(element), args[0]}, 3, outs);
}

kw_status kw_decompose_masked_fill_tensor(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *element = kw_compose_new(c, outs[0]->ref.dtype, 0, NULL);
  kw_compose_put(c, element, kw_value_as_tensor(&args[2]));
  return kw_compose_call(c, "where.self", (kw_value[]){args[1], T(element), args[0]}, 3, outs);
}

kw_status kw_decompose_fill_tensor(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  (void)outs;
  return kw_compose_call(c, "copy_", (kw_value[]){args[0], args[1]}, 2, NULL);
}

/* Entry by entry into its place. */
kw_status kw_decompose_cat(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_status status = KW_OK;
  int64_t dim = args[1].u.i, start = 0;
  if (dim < 0) dim += outs[0]->ref.rank;
  for (uint32_t k = 0; k < args[0].count && status == KW_OK; ++k) {
    const kw_tensor *entry = kw_value_entry(&args[0], k);
    if (entry->ref.numel == 0) continue;
    kw_tensor *place;
    status = kw_tensor_slice(outs[0], dim, start, start + entry->ref.shape[dim], 1, &place);
    if (status != KW_OK) return status;
    status = kw_compose_call(c, "copy_", (kw_value[]){kw_arg_tensor(place), kw_arg_tensor(entry)}, 2, NULL);
    kw_tensor_release(place);
    start += entry->ref.shape[dim];
  }
  return status;
}

/* A tensor's elements in another shape, by strides. */
typedef struct sight {
  uint32_t rank;
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK];
} sight;

static kw_status see(const kw_tensor *tensor, const sight *as, kw_tensor **out_view) {
  return kw_tensor_on_buffer(tensor->buffer, tensor->ref.dtype, as->rank, as->shape, as->strides,
                             tensor->ref.offset - tensor->buffer->offset, out_view);
}

/* gather with each tensor seen in its own way. Unlike index.Tensor, gather refuses the negative
 * indices that embedding and index_select refuse. */
static kw_status gather(kw_composition *c, const kw_tensor *self, const sight *self_as, int64_t dim,
                        const kw_tensor *index, const sight *index_as, kw_tensor *out, const sight *out_as) {
  kw_tensor *from = NULL, *by = NULL, *to = NULL;
  kw_status status = see(self, self_as, &from);
  if (status == KW_OK) status = see(index, index_as, &by);
  if (status == KW_OK) status = see(out, out_as, &to);
  if (status == KW_OK) {
    kw_value args[] = {kw_arg_tensor(from), kw_arg_int(dim), kw_arg_tensor(by)};
    status = kw_compose_call(c, "gather", args, 3, &to);
  }
  kw_tensor_release(from);
  kw_tensor_release(by);
  kw_tensor_release(to);
  return status;
}

static sight sight_of(const kw_tensor *tensor) {
  sight as = {tensor->ref.rank, {0}, {0}};
  memcpy(as.shape, tensor->ref.shape, sizeof as.shape);
  memcpy(as.strides, tensor->ref.strides, sizeof as.strides);
  return as;
}

/* The same index for all elements of a slice. */
kw_status kw_decompose_index_select(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const kw_tensor *self = kw_value_as_tensor(&args[0]), *index = kw_value_as_tensor(&args[2]);
  const sight from = sight_of(self), to = sight_of(outs[0]);
  sight by = {to.rank, {0}, {0}};
  int64_t dim = args[1].u.i < 0 ? args[1].u.i + to.rank : args[1].u.i;
  memcpy(by.shape, to.shape, sizeof by.shape);
  if (index->ref.rank == 1 && to.rank > 0) by.strides[dim] = index->ref.strides[0];
  return gather(c, self, &from, args[1].u.i, index, &by, outs[0], &to);
}

/* The same index for all elements of a row; each index after the first dimension's has the whole table for itself. */
kw_status kw_decompose_embedding(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const kw_tensor *weight = kw_value_as_tensor(&args[0]), *indices = kw_value_as_tensor(&args[1]);
  sight by = sight_of(indices), to = sight_of(outs[0]);
  if (by.rank == 0) { /* one index: a dimension of size 1 */
    by.shape[by.rank++] = 1;
    to = (sight){2, {1, to.shape[0]}, {0, to.strides[0]}};
  }
  by.shape[by.rank] = weight->ref.shape[1];
  by.strides[by.rank++] = 0;
  sight from = {by.rank, {0}, {0}};
  memcpy(from.shape, by.shape, sizeof from.shape);
  from.shape[0] = weight->ref.shape[0];
  from.strides[0] = weight->ref.strides[0];
  from.strides[from.rank - 1] = weight->ref.strides[1];
  return gather(c, weight, &from, 0, indices, &by, outs[0], &to);
}

kw_status kw_decompose_scatter_value(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const kw_tensor_ref *index = args[2].u.tensor;
  kw_tensor *element = kw_compose_number(c, outs[0]->ref.dtype, args[3]);
  kw_tensor *src = kw_compose_expand(c, element, index->rank, index->shape);
  return kw_compose_call(c, "scatter.src", (kw_value[]){args[0], args[1], args[2], T(src)}, 4, outs);
}

/* Puts a part of a view in its place; nothing is left of it where `end` is not past `start`. */
static kw_status narrow(kw_tensor **io_view, uint32_t dim, int64_t start, int64_t end) {
  kw_tensor *whole = *io_view;
  kw_status status = kw_tensor_slice(whole, dim, start, end > start ? end : start, 1, io_view);
  if (status == KW_OK) kw_tensor_release(whole);
  return status;
}

/* The value everywhere, and a copy of what is left of `self` in the middle. */
kw_status kw_decompose_constant_pad(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const int64_t *pads = args[1].u.ints;
  kw_tensor *from = NULL, *to = NULL;
  kw_compose_fill(c, outs[0], args[2]);
  kw_status status = c->status;
  if (status == KW_OK) status = kw_tensor_alias(kw_value_as_tensor(&args[0]), &from);
  if (status == KW_OK) status = kw_tensor_alias(outs[0], &to);
  for (uint32_t i = 0; i < args[1].count / 2 && status == KW_OK; ++i) {
    const uint32_t d = to->ref.rank - 1 - i;
    const int64_t before = pads[2 * i], after = pads[2 * i + 1], size = from->ref.shape[d], padded = to->ref.shape[d];
    status = narrow(&from, d, before < 0 ? -before : 0, after < 0 ? size + after : size);
    if (status == KW_OK) status = narrow(&to, d, before > 0 ? before : 0, after > 0 ? padded - after : padded);
  }
  if (status == KW_OK)
    status = kw_compose_call(c, "copy_", (kw_value[]){kw_arg_tensor(to), kw_arg_tensor(from)}, 2, NULL);
  kw_tensor_release(from);
  kw_tensor_release(to);
  return status;
}

/* A copy of argument 0, and argument 1 in place of the part of it that the view shows. Releases the view. */
static kw_status replace_part(kw_composition *c, const kw_value *args, kw_tensor **outs, kw_tensor *part) {
  kw_status status = kw_compose_call(c, "copy_", (kw_value[]){kw_arg_tensor(outs[0]), args[0]}, 2, NULL);
  if (status == KW_OK) status = kw_compose_call(c, "copy_", (kw_value[]){kw_arg_tensor(part), args[1]}, 2, NULL);
  kw_tensor_release(part);
  return status;
}

kw_status kw_decompose_select_scatter(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *part;
  kw_status status = kw_tensor_select(outs[0], args[2].u.i, args[3].u.i, &part);
  return status == KW_OK ? replace_part(c, args, outs, part) : status;
}

kw_status kw_decompose_slice_scatter(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const int64_t start = args[3].tag == KW_TAG_NONE ? 0 : args[3].u.i;
  const int64_t end = args[4].tag == KW_TAG_NONE ? INT64_MAX : args[4].u.i;
  kw_tensor *part;
  kw_status status = kw_tensor_slice(outs[0], args[2].u.i, start, end, args[5].u.i, &part);
  return status == KW_OK ? replace_part(c, args, outs, part) : status;
}

/* Pools of one dimension, as pools of planes of one row. */

static kw_status pool_rows(const char *op, kw_composition *c, const kw_value *args, uint32_t count, uint32_t results,
                           kw_tensor **outs) {
  kw_value planar[8];
  int64_t pairs[4][2];
  kw_tensor *self = NULL, *to[2] = {NULL};
  memcpy(planar, args, count * sizeof *args);
  for (uint32_t i = 1, lists = 0; i < count; ++i) {
    if (args[i].tag != KW_TAG_INT_LIST || args[i].count == 0) continue;
    /* kernel_size, stride, dilation or output_size of 1 change nothing, nor does a padding of 0 */
    pairs[lists][0] = strcmp(kw_op_find(op)->schema.args[i].name, "padding") != 0;
    pairs[lists][1] = args[i].u.ints[0];
    planar[i] = kw_arg_int_list(pairs[lists++], 2);
  }
  kw_status status = kw_tensor_unsqueeze(kw_value_as_tensor(&args[0]), -2, &self);
  for (uint32_t r = 0; r < results && status == KW_OK; ++r) status = kw_tensor_unsqueeze(outs[r], -2, &to[r]);
  if (status == KW_OK) {
    planar[0] = kw_arg_tensor(self);
    status = kw_compose_calls(c, op, planar, count, to, results);
  }
  kw_tensor_release(self);
  for (uint32_t r = 0; r < results; ++r) kw_tensor_release(to[r]);
  return status;
}

kw_status kw_decompose_avg_pool1d(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return pool_rows("avg_pool2d", c, args, 6, 1, outs);
}

kw_status kw_decompose_max_pool1d(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return pool_rows("max_pool2d_with_indices", c, args, 6, 2, outs);
}

kw_status kw_decompose_adaptive_avg_pool1d(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return pool_rows("_adaptive_avg_pool2d", c, args, 2, 1, outs);
}

kw_status kw_decompose_adaptive_max_pool1d(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return pool_rows("adaptive_max_pool2d", c, args, 2, 2, outs);
}

kw_status kw_decompose_sort(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value stable[] = {args[0], kw_arg_bool(true), args[1], args[2]};
  return kw_compose_calls(c, "sort.stable", stable, 4, outs, 2);
}

/* The first k of all that is sorted. */
kw_status kw_decompose_topk(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *sorted[2] = {NULL, NULL};
  kw_value stable[] = {args[0], kw_arg_bool(true), args[2], args[3]};
  kw_status status = kw_compose_calls(c, "sort.stable", stable, 4, sorted, 2);
  for (uint32_t i = 0; i < 2 && status == KW_OK; ++i) {
    kw_tensor *first = NULL;
    status = outs[i]->ref.rank == 0 ? kw_tensor_alias(sorted[i], &first)
                                    : kw_tensor_slice(sorted[i], args[2].u.i, 0, args[1].u.i, 1, &first);
    if (status == KW_OK)
      status = kw_compose_call(c, "copy_", (kw_value[]){kw_arg_tensor(outs[i]), kw_arg_tensor(first)}, 2, NULL);
    kw_tensor_release(first);
  }
  kw_tensor_release(sorted[0]);
  kw_tensor_release(sorted[1]);
  return status;
}

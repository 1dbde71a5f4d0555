/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops served by other ops on the same device, bit for bit what a kernel of their own would give: no rounding in
 * between.
 */
#include "call/decompose.h"

#include "base/error.h"
#include "base/scalar.h"
#include "call/nested.h"
#include "call/record.h"
#include "call/value.h"
#include "plugin/kernel.h"

#include <string.h>

static kw_status call(const char *op, kw_stream *stream, const kw_value *args, uint32_t count, kw_tensor **outs) {
  return kw_call_nested(kw_op_find(op), stream, args, count, outs, outs ? 1 : 0);
}

/* -alpha in two's complement for integers, so that u8 works too. */
static kw_value negated(kw_value scalar) {
  if (scalar.kind == KW_SCALAR_BOOL) return kw_arg_scalar_i64(scalar.u.b ? -1 : 0);
  if (scalar.kind == KW_SCALAR_I64) return kw_arg_scalar_i64((int64_t)(0 - (uint64_t)scalar.u.i));
  return kw_arg_scalar_f64(-scalar.u.f);
}

static kw_status sub_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("add.Tensor", stream, (kw_value[]){args[0], args[1], negated(args[2])}, 3, outs);
}

static kw_status sub_scalar(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("add.Scalar", stream, (kw_value[]){args[0], args[1], negated(args[2])}, 3, outs);
}

static kw_status gt_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("lt.Tensor", stream, (kw_value[]){args[1], args[0]}, 2, outs);
}

static kw_status ge_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("le.Tensor", stream, (kw_value[]){args[1], args[0]}, 2, outs);
}

static kw_status sum_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value all[] = {args[0], kw_arg_none(), kw_arg_bool(false), args[1]};
  return call("sum.dim_IntList", stream, all, 4, outs);
}

static kw_status mean_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value all[] = {args[0], kw_arg_none(), kw_arg_bool(false), args[1]};
  return call("mean.dim", stream, all, 4, outs);
}

static kw_status any_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("any.dims", stream, args, 1, outs);
}

static kw_status any_dim(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value one[] = {args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]};
  return call("any.dims", stream, one, 3, outs);
}

static kw_status all_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("all.dims", stream, args, 1, outs);
}

static kw_status all_dim(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value one[] = {args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]};
  return call("all.dims", stream, one, 3, outs);
}

static kw_status max_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("amax", stream, args, 1, outs);
}

static kw_status min_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("amin", stream, args, 1, outs);
}

static kw_status var_dim(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value corrected[] = {args[0], args[1], kw_arg_scalar_i64(args[2].u.b ? 1 : 0), args[3]};
  return call("var.correction", stream, corrected, 4, outs);
}

static kw_status sort(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value stable[] = {args[0], kw_arg_bool(true), args[1], args[2]};
  return kw_call_nested(kw_op_find("sort.stable"), stream, stable, 4, outs, 2);
}

/* The first k of all that is sorted. */
static kw_status topk(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_tensor *sorted[2] = {NULL, NULL};
  kw_value stable[] = {args[0], kw_arg_bool(true), args[2], args[3]};
  kw_status status = kw_call_nested(kw_op_find("sort.stable"), stream, stable, 4, sorted, 2);
  for (uint32_t i = 0; i < 2 && status == KW_OK; ++i) {
    kw_tensor *first = NULL;
    status = outs[i]->ref.rank == 0 ? kw_tensor_alias(sorted[i], &first)
                                    : kw_tensor_slice(sorted[i], args[2].u.i, 0, args[1].u.i, 1, &first);
    if (status == KW_OK)
      status = call("copy_", stream, (kw_value[]){kw_arg_tensor(outs[i]), kw_arg_tensor(first)}, 2, NULL);
    kw_tensor_release(first);
  }
  kw_tensor_release(sorted[0]);
  kw_tensor_release(sorted[1]);
  return status;
}

static kw_status to_copy(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("copy_", stream, (kw_value[]){kw_arg_tensor(outs[0]), args[0]}, 2, NULL);
}

/* A tensor of rank 0 with this value. */
static kw_status make_element(kw_stream *stream, kw_dtype dtype, const kw_value *scalar, kw_tensor **out_element) {
  unsigned char pattern[16];
  kw_scalar_store(scalar, dtype, pattern);
  kw_status status = kw_tensor_create_for_call(stream, dtype, 0, NULL, out_element);
  if (status != KW_OK) return status;
  uint32_t item = (uint32_t)kw_dtype_size(dtype);
  status = kw_record_or_fill((*out_element)->buffer, stream, 0, item, pattern, item);
  if (status != KW_OK) kw_tensor_release(*out_element);
  return status;
}

/* Dense memory by the plugin's fill, or core's in its place; strided memory from one filled element. */
static kw_status fill_scalar(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_tensor *self = outs[0];
  if (kw_ref_is_contiguous(&self->ref)) {
    uint32_t item = (uint32_t)kw_dtype_size(self->ref.dtype);
    unsigned char pattern[16];
    kw_scalar_store(&args[1], self->ref.dtype, pattern);
    uint64_t offset = self->ref.offset - self->buffer->offset;
    return kw_record_or_fill(self->buffer, stream, offset, (uint64_t)self->ref.numel * item, pattern, item);
  }
  kw_tensor *element;
  kw_status status = make_element(stream, self->ref.dtype, &args[1], &element);
  if (status != KW_OK) return status;
  status = call("copy_", stream, (kw_value[]){args[0], kw_arg_tensor(element)}, 2, NULL);
  kw_tensor_release(element);
  return status;
}

static kw_status full(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("fill_.Scalar", stream, (kw_value[]){kw_arg_tensor(outs[0]), args[1]}, 2, NULL);
}

/* Where there is no fill_ either. */
static kw_status full_by_copy(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return fill_scalar(stream, (kw_value[]){kw_arg_tensor(outs[0]), args[1]}, outs);
}

static kw_status copy(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("copy_", stream, (kw_value[]){kw_arg_tensor(outs[0]), args[1]}, 2, NULL);
}

/* The value becomes self's dtype before where sees it, as in fill_. */
static kw_status masked_fill_scalar(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_tensor *element;
  kw_status status = make_element(stream, outs[0]->ref.dtype, &args[2], &element);
  if (status != KW_OK) return status;
  status = call("where.self", stream, (kw_value[]){args[1], kw_arg_tensor(element), args[0]}, 3, outs);
  kw_tensor_release(element);
  return status;
}

static kw_status masked_fill_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_tensor *element;
  kw_status status = kw_tensor_create_for_call(stream, outs[0]->ref.dtype, 0, NULL, &element);
  if (status != KW_OK) return status;
  status = call("copy_", stream, (kw_value[]){kw_arg_tensor(element), args[2]}, 2, NULL);
  kw_value where[] = {args[1], kw_arg_tensor(element), args[0]};
  if (status == KW_OK) status = call("where.self", stream, where, 3, outs);
  kw_tensor_release(element);
  return status;
}

static kw_status hardtanh(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("clamp", stream, args, 3, outs);
}

static kw_status fill_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  (void)outs;
  return call("copy_", stream, (kw_value[]){args[0], args[1]}, 2, NULL);
}

/* Entry by entry into its place. */
static kw_status cat(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_status status = KW_OK;
  int64_t dim = args[1].u.i, start = 0;
  if (dim < 0) dim += outs[0]->ref.rank;
  for (uint32_t k = 0; k < args[0].count && status == KW_OK; ++k) {
    const kw_tensor *entry = kw_value_entry(&args[0], k);
    if (entry->ref.numel == 0) continue;
    kw_tensor *place;
    status = kw_tensor_slice(outs[0], dim, start, start + entry->ref.shape[dim], 1, &place);
    if (status != KW_OK) return status;
    status = call("copy_", stream, (kw_value[]){kw_arg_tensor(place), kw_arg_tensor(entry)}, 2, NULL);
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
static kw_status gather(kw_stream *stream, const kw_tensor *self, const sight *self_as, int64_t dim,
                        const kw_tensor *index, const sight *index_as, kw_tensor *out, const sight *out_as) {
  kw_tensor *from = NULL, *by = NULL, *to = NULL;
  kw_status status = see(self, self_as, &from);
  if (status == KW_OK) status = see(index, index_as, &by);
  if (status == KW_OK) status = see(out, out_as, &to);
  if (status == KW_OK) {
    kw_value args[] = {kw_arg_tensor(from), kw_arg_int(dim), kw_arg_tensor(by)};
    status = call("gather", stream, args, 3, &to);
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
static kw_status index_select(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  const kw_tensor *self = kw_value_as_tensor(&args[0]), *index = kw_value_as_tensor(&args[2]);
  const sight from = sight_of(self), to = sight_of(outs[0]);
  sight by = {to.rank, {0}, {0}};
  int64_t dim = args[1].u.i < 0 ? args[1].u.i + to.rank : args[1].u.i;
  memcpy(by.shape, to.shape, sizeof by.shape);
  if (index->ref.rank == 1 && to.rank > 0) by.strides[dim] = index->ref.strides[0];
  return gather(stream, self, &from, args[1].u.i, index, &by, outs[0], &to);
}

/* The same index for all elements of a row; each index after the first dimension's has the whole table for itself. */
static kw_status embedding(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
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
  return gather(stream, weight, &from, 0, indices, &by, outs[0], &to);
}

static kw_status scatter_value(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  const kw_tensor_ref *index = args[2].u.tensor;
  kw_tensor *element, *src;
  kw_status status = make_element(stream, outs[0]->ref.dtype, &args[3], &element);
  if (status != KW_OK) return status;
  status = kw_tensor_expand(element, index->rank, index->shape, &src);
  kw_tensor_release(element);
  if (status != KW_OK) return status;
  status = call("scatter.src", stream, (kw_value[]){args[0], args[1], args[2], kw_arg_tensor(src)}, 4, outs);
  kw_tensor_release(src);
  return status;
}

/* Puts a part of a view in its place; nothing is left of it where `end` is not past `start`. */
static kw_status narrow(kw_tensor **io_view, uint32_t dim, int64_t start, int64_t end) {
  kw_tensor *whole = *io_view;
  kw_status status = kw_tensor_slice(whole, dim, start, end > start ? end : start, 1, io_view);
  if (status == KW_OK) kw_tensor_release(whole);
  return status;
}

/* The value everywhere, and a copy of what is left of `self` in the middle. */
static kw_status constant_pad(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  const int64_t *pads = args[1].u.ints;
  kw_tensor *from = NULL, *to = NULL;
  kw_status status = fill_scalar(stream, (kw_value[]){kw_arg_tensor(outs[0]), args[2]}, outs);
  if (status == KW_OK) status = kw_tensor_alias(kw_value_as_tensor(&args[0]), &from);
  if (status == KW_OK) status = kw_tensor_alias(outs[0], &to);
  for (uint32_t i = 0; i < args[1].count / 2 && status == KW_OK; ++i) {
    const uint32_t d = to->ref.rank - 1 - i;
    const int64_t before = pads[2 * i], after = pads[2 * i + 1], size = from->ref.shape[d], padded = to->ref.shape[d];
    status = narrow(&from, d, before < 0 ? -before : 0, after < 0 ? size + after : size);
    if (status == KW_OK) status = narrow(&to, d, before > 0 ? before : 0, after > 0 ? padded - after : padded);
  }
  if (status == KW_OK) status = call("copy_", stream, (kw_value[]){kw_arg_tensor(to), kw_arg_tensor(from)}, 2, NULL);
  kw_tensor_release(from);
  kw_tensor_release(to);
  return status;
}

/* A copy of argument 0, and argument 1 in place of the part of it that the view shows. Releases the view. */
static kw_status replace_part(kw_stream *stream, const kw_value *args, kw_tensor **outs, kw_tensor *part) {
  kw_status status = call("copy_", stream, (kw_value[]){kw_arg_tensor(outs[0]), args[0]}, 2, NULL);
  if (status == KW_OK) status = call("copy_", stream, (kw_value[]){kw_arg_tensor(part), args[1]}, 2, NULL);
  kw_tensor_release(part);
  return status;
}

static kw_status select_scatter(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_tensor *part;
  kw_status status = kw_tensor_select(outs[0], args[2].u.i, args[3].u.i, &part);
  return status == KW_OK ? replace_part(stream, args, outs, part) : status;
}

static kw_status slice_scatter(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  const int64_t start = args[3].tag == KW_TAG_NONE ? 0 : args[3].u.i;
  const int64_t end = args[4].tag == KW_TAG_NONE ? INT64_MAX : args[4].u.i;
  kw_tensor *part;
  kw_status status = kw_tensor_slice(outs[0], args[2].u.i, start, end, args[5].u.i, &part);
  return status == KW_OK ? replace_part(stream, args, outs, part) : status;
}

static kw_status rand_by_uniform(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value to_one[] = {kw_arg_tensor(outs[0]), kw_arg_float(0), kw_arg_float(1), args[2]};
  return call("uniform_", stream, to_one, 4, NULL);
}

static kw_status randn(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value standard[] = {kw_arg_tensor(outs[0]), kw_arg_float(0), kw_arg_float(1), args[2]};
  return call("normal_", stream, standard, 4, NULL);
}

static kw_status randint(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value from_zero[] = {kw_arg_tensor(outs[0]), kw_arg_int(0), args[0], args[3]};
  return call("random_.from", stream, from_zero, 4, NULL);
}

static kw_status randint_low(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value from_low[] = {kw_arg_tensor(outs[0]), args[0], args[1], args[4]};
  return call("random_.from", stream, from_low, 4, NULL);
}

/* Pools of one dimension, as pools of planes of one row. */

static kw_status pool_rows(const char *op, kw_stream *stream, const kw_value *args, uint32_t count, uint32_t results,
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
    status = kw_call_nested(kw_op_find(op), stream, planar, count, to, results);
  }
  kw_tensor_release(self);
  for (uint32_t r = 0; r < results; ++r) kw_tensor_release(to[r]);
  return status;
}

static kw_status avg_pool1d(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return pool_rows("avg_pool2d", stream, args, 6, 1, outs);
}

static kw_status max_pool1d(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return pool_rows("max_pool2d_with_indices", stream, args, 6, 2, outs);
}

static kw_status adaptive_avg_pool1d(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return pool_rows("_adaptive_avg_pool2d", stream, args, 2, 1, outs);
}

static kw_status adaptive_max_pool1d(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return pool_rows("adaptive_max_pool2d", stream, args, 2, 2, outs);
}

static const kw_decomposition decompositions[] = {
#define KW_DECOMPOSITION(op, by, function) {op, by, function},
#include "op/decompositions.def"
};

/* Kernels only: a decomposition never leads to another. */
static bool has_kernel(const kw_device *device, const char *op, kw_dtype key, kw_math math) {
  uint32_t count;
  kw_kernel *const *kernels = kw_plugin_kernels(device->plugin, kw_op_find(op), &count);
  for (uint32_t i = 0; i < count; ++i) {
    const kw_kernel_desc *desc = &kernels[i]->desc;
    if (kw_dtype_mask_has(desc->dtypes, key) && kw_math_allows(math, desc)) return true;
  }
  return false;
}

const kw_decomposition *kw_decompose_find(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math) {
  for (size_t i = 0; i < sizeof decompositions / sizeof decompositions[0]; ++i) {
    if (strcmp(decompositions[i].op, op->schema.name) != 0) continue;
    if (has_kernel(device, decompositions[i].by, key, math)) return &decompositions[i];
  }
  return NULL;
}

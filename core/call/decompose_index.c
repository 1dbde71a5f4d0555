/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of indexing, of matrix products into batched ones and back, and of arange.
 */
#include "call/decompose.h"

#include "base/dtype.h"
#include "base/scalar.h"
#include "call/value.h"

/* ---- Numbers in a row -------------------------------------------------------------------------------------------- */

/* start + i * step; integers have their fractions cut off first. args: start, end, step, dtype. */
kw_status kw_decompose_arange(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *out = outs[0];
  const bool floats = kw_dtype_is_float(out->ref.dtype);
  const kw_dtype dtype = floats ? c->dtype : KW_I64;
  kw_value step = args[2];
  if (!floats && step.kind == KW_SCALAR_F64) step = kw_arg_scalar_i64((int64_t)step.u.f);
  kw_tensor *places = kw_compose_cast(c, kw_compose_iota(c, out->ref.numel), dtype);
  kw_compose_put(c, out, KW_OP(c, "add.Tensor", T(kw_compose_number(c, dtype, args[0])), T(places), step));
  return c->status;
}

/* ---- index ------------------------------------------------------------------------------------------------------- */

/* The places in a flat tensor, or -1, which no tensor has, where an index is out of range. */
typedef struct places {
  kw_tensor *at, *good; /* NULL: 0, and all */
} places;

static kw_tensor *plus(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return a ? kw_compose_sum(c, a, b) : b;
}

/* One indexed dimension: negative indices count from its end. */
static void add_index(kw_composition *c, places *places, kw_tensor *index, int64_t size, int64_t stride) {
  kw_tensor *zero = kw_compose_integer(c, KW_I64, 0);
  kw_tensor *from_end = plus(c, index, kw_compose_integer(c, KW_I64, size));
  kw_tensor *at = kw_compose_where(c, kw_compose_le(c, zero, index), index, from_end);
  kw_tensor *good =
      kw_compose_and(c, kw_compose_le(c, zero, at), kw_compose_le(c, at, kw_compose_integer(c, KW_I64, size - 1)));
  places->at = plus(c, places->at, kw_compose_product(c, at, kw_compose_integer(c, KW_I64, stride)));
  places->good = places->good ? kw_compose_and(c, places->good, good) : good;
}

/* An index tensor of the result: its dimensions begin at `first`, and `behind` others follow. */
static kw_tensor *spread(kw_composition *c, kw_tensor *index, uint32_t behind) {
  for (uint32_t i = 0; i < behind && c->status == KW_OK; ++i) {
    index = kw_compose_unsqueeze(c, index, -1);
  }
  return index;
}

/* args: self, indices. */
kw_status kw_decompose_index(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *self = kw_value_as_tensor(&args[0]), *flat = kw_compose_flat(c, self);
  const kw_tensor_ref *of = &self->ref;
  uint32_t first = KW_MAX_RANK, last = 0, indexed = 0;
  bool is_indexed[KW_MAX_RANK] = {false};
  for (uint32_t d = 0; d < args[1].count; ++d) {
    if (!args[1].u.tensors[d]) continue;
    is_indexed[d] = true;
    if (first == KW_MAX_RANK) first = d;
    last = d;
    ++indexed;
  }
  const bool together = indexed > 0 && last - first + 1 == indexed;
  const uint32_t rank = outs[0]->ref.rank, index_rank = rank - (of->rank - indexed);
  const uint32_t before = together ? first : 0; /* dimensions of the result in front of the indices' */
  places places = {NULL, NULL};
  int64_t stride = 1;
  const uint32_t since = c->count;
  uint32_t kept = of->rank - indexed; /* dimensions that are not indexed, not yet seen from the end */
  for (uint32_t d = of->rank; d-- > 0; stride *= of->shape[d]) {
    if (is_indexed[d]) {
      kw_tensor *index = kw_compose_cast(c, (kw_tensor *)(uintptr_t)kw_value_entry(&args[1], d), KW_I64);
      add_index(c, &places, spread(c, index, rank - before - index_rank), of->shape[d], stride);
    } else {
      --kept;
      const uint32_t at = kept < before ? kept : kept + index_rank;
      kw_tensor *row = kw_compose_along(c, kw_compose_iota(c, of->shape[d]), at, rank);
      places.at = plus(c, places.at, kw_compose_product(c, row, kw_compose_integer(c, KW_I64, stride)));
    }
    kw_compose_drop(c, since, places.at, places.good);
  }
  kw_tensor *from = kw_compose_where(c, places.good, places.at, kw_compose_integer(c, KW_I64, -1));
  kw_tensor *whole = kw_compose_expand(c, from, rank, outs[0]->ref.shape);
  kw_tensor *row = KW_OP(c, "gather", T(flat), kw_arg_int(0), T(kw_compose_flat(c, whole)));
  kw_compose_put(c, outs[0], kw_compose_view(c, row, rank, outs[0]->ref.shape));
  return c->status;
}

/* ---- scatter ----------------------------------------------------------------------------------------------------- */

/* A tensor of rank 0 as one of rank 1. */
static kw_tensor *at_least_a_row(kw_composition *c, kw_tensor *tensor) {
  return c->status != KW_OK || tensor->ref.rank > 0 ? tensor : kw_compose_unsqueeze(c, tensor, 0);
}

/* An index that index_put would count from the end is out of range, as scatter has it. */
static kw_tensor *not_negative(kw_composition *c, kw_tensor *index, int64_t size) {
  kw_tensor *valid = kw_compose_le(c, kw_compose_integer(c, KW_I64, 0), index);
  return kw_compose_where(c, valid, index, kw_compose_integer(c, KW_I64, size));
}

/* index_put with the place of each element in the other dimensions. args: self, dim, index, src. */
static kw_status scatter(kw_composition *c, const kw_value *args, kw_tensor **outs, bool accumulate) {
  kw_tensor *index = kw_value_as_tensor(&args[2]);
  if (index->ref.numel == 0) {
    kw_compose_put(c, outs[0], kw_value_as_tensor(&args[0]));
    return c->status;
  }
  kw_tensor *self = at_least_a_row(c, kw_value_as_tensor(&args[0])), *out = at_least_a_row(c, outs[0]);
  kw_tensor *src = at_least_a_row(c, kw_value_as_tensor(&args[3]));
  index = at_least_a_row(c, kw_compose_cast(c, index, KW_I64));
  if (c->status != KW_OK) return c->status;
  const uint32_t rank = self->ref.rank, dim = (uint32_t)kw_compose_dim(args[1].u.i, rank);
  kw_tensor *lists[KW_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d) {
    if (d == dim) {
      lists[d] = not_negative(c, index, self->ref.shape[d]);
    } else {
      lists[d] = kw_compose_along(c, kw_compose_iota(c, index->ref.shape[d]), d, rank);
    }
    src = kw_compose_slice(c, src, d, 0, index->ref.shape[d]);
  }
  if (c->status != KW_OK) return c->status;
  const kw_value put[] = {T(self), kw_arg_tensor_list(lists, rank), T(src), kw_arg_bool(accumulate)};
  return kw_compose_call(c, "index_put", put, 4, &out);
}

kw_status kw_decompose_scatter(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return scatter(c, args, outs, false);
}

kw_status kw_decompose_scatter_add(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return scatter(c, args, outs, true);
}

/* args: self, dim, index, source, alpha. */
kw_status kw_decompose_index_add(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *self = at_least_a_row(c, kw_compose_arg(c, &args[0])), *out = at_least_a_row(c, outs[0]);
  kw_tensor *source = at_least_a_row(c, kw_compose_arg(c, &args[3]));
  kw_tensor *index = at_least_a_row(c, kw_compose_cast(c, kw_value_as_tensor(&args[2]), KW_I64)), *lists[KW_MAX_RANK];
  if (c->status != KW_OK) return c->status;
  const int64_t dim = kw_compose_dim(args[1].u.i, self->ref.rank);
  if (kw_scalar_real(&args[4]) != 1) source = kw_compose_product(c, source, kw_compose_arg(c, &args[4]));
  for (uint32_t d = 0; d < self->ref.rank; ++d) lists[d] = NULL;
  lists[dim] = not_negative(c, index, self->ref.shape[dim]);
  if (c->status != KW_OK) return c->status;
  const kw_value put[] = {T(self), kw_arg_tensor_list(lists, (uint32_t)dim + 1), T(source), kw_arg_bool(true)};
  kw_compose_into(c, out, "index_put", 4, put);
  return c->status;
}

/* The gradients of padding_idx are not read; each row is divided by how often it is named where that is asked for.
 * args: grad_output, indices, num_weights, padding_idx, scale_grad_by_freq. */
kw_status kw_decompose_embedding_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *indices = kw_compose_cast(c, kw_value_as_tensor(&args[1]), KW_I64);
  if (c->status != KW_OK) return c->status;
  const int64_t rows = outs[0]->ref.shape[0], width = outs[0]->ref.shape[1], names = indices->ref.numel;
  const int64_t flat[] = {names, width}, column[] = {names, 1}, own[] = {rows, 1};
  kw_tensor *index = kw_compose_flat(c, indices), *pads = kw_compose_integer(c, KW_I64, args[3].u.i);
  kw_tensor *is_pad = kw_compose_view(c, KW_OP(c, "eq.Tensor", T(index), T(pads)), 2, column);
  kw_tensor *terms = kw_compose_where(c, is_pad, kw_compose_integer(c, c->dtype, 0), kw_compose_view(c, grad, 2, flat));
  kw_tensor *none = kw_compose_new(c, c->dtype, 2, outs[0]->ref.shape);
  kw_compose_fill(c, none, kw_arg_scalar_i64(0));
  index = not_negative(c, index, rows);
  if (c->status != KW_OK) return c->status;
  kw_tensor *sums = KW_OP(c, "index_put", T(none), kw_arg_tensor_list(&index, 1), T(terms), kw_arg_bool(true));
  if (args[4].u.b) {
    kw_tensor *counts = kw_compose_new(c, c->dtype, 1, &rows), *each = kw_compose_integer(c, c->dtype, 1);
    kw_compose_fill(c, counts, kw_arg_scalar_i64(0));
    counts = KW_OP(c, "index_put", T(counts), kw_arg_tensor_list(&index, 1), T(each), kw_arg_bool(true));
    counts = KW_OP(c, "maximum", T(counts), T(each));
    if (c->status == KW_OK) sums = kw_compose_quotient(c, sums, kw_compose_view(c, counts, 2, own));
  }
  kw_compose_put(c, outs[0], sums);
  return c->status;
}

/* ---- Matrix products --------------------------------------------------------------------------------------------- */

kw_status kw_decompose_mm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *a = kw_compose_arg(c, &args[0]), *b = kw_compose_arg(c, &args[1]),
            *out = kw_compose_unsqueeze(c, outs[0], 0);
  return kw_compose_call(c, "bmm", (kw_value[]){T(kw_compose_unsqueeze(c, a, 0)), T(kw_compose_unsqueeze(c, b, 0))}, 2,
                         &out);
}

kw_status kw_decompose_bmm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *a = kw_compose_arg(c, &args[0]), *b = kw_compose_arg(c, &args[1]);
  for (int64_t i = 0; c->status == KW_OK && i < outs[0]->ref.shape[0]; ++i) {
    const uint32_t since = c->count;
    kw_tensor *product = kw_compose_select(c, outs[0], 0, i);
    const kw_value pair[] = {T(kw_compose_select(c, a, 0, i)), T(kw_compose_select(c, b, 0, i))};
    kw_compose_call(c, "mm", pair, 2, &product);
    kw_compose_drop(c, since, NULL, NULL);
  }
  return c->status;
}

/* With a beta of 0 self is not read. args: self, mat1, mat2, beta, alpha. */
kw_status kw_decompose_addmm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *product = KW_OP(c, "mm", T(kw_compose_arg(c, &args[1])), T(kw_compose_arg(c, &args[2])));
  if (kw_scalar_real(&args[3]) == 0) {
    KW_INTO(c, outs[0], "mul.Tensor", T(product), T(kw_compose_arg(c, &args[4])));
    return c->status;
  }
  kw_tensor *self = kw_compose_arg(c, &args[0]);
  if (kw_scalar_real(&args[3]) != 1) self = kw_compose_product(c, self, kw_compose_arg(c, &args[3]));
  KW_INTO(c, outs[0], "add.Tensor", T(self), T(product), args[4]);
  return c->status;
}

kw_status kw_decompose_int_mm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const kw_value pair[] = {T(kw_compose_cast(c, kw_value_as_tensor(&args[0]), KW_I32)),
                           T(kw_compose_cast(c, kw_value_as_tensor(&args[1]), KW_I32))};
  return kw_compose_call(c, "mm", pair, 2, outs);
}

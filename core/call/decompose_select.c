/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of ops that select and rearrange elements: masks, triangles, and other orders.
 */
#include "call/decompose.h"

#include "call/value.h"

/* ---- As many as the data say ------------------------------------------------------------------------------------- */

/* Where each element that a row of facts selects goes: how many are before it; to `count`, which is behind all, where
 * it is not selected. The number of those selected to out_total. */
static kw_tensor *places_of(kw_composition *c, kw_tensor *facts, kw_tensor *out_total) {
  kw_tensor *numbers = kw_compose_cast(c, facts, KW_I64);
  if (c->status != KW_OK) return NULL;
  kw_tensor *place =
      kw_compose_difference(c, KW_OP(c, "cumsum", T(numbers), kw_arg_int(0)), kw_compose_integer(c, KW_I64, 1));
  kw_compose_put(c, out_total, KW_OP(c, "sum.dim_IntList", T(numbers), kw_arg_none()));
  return kw_compose_where(c, facts, place, kw_compose_integer(c, KW_I64, facts->ref.numel));
}

/* Puts those of a row's elements that have a place there into `out`, from its beginning. */
static void gather_selected(kw_composition *c, kw_tensor *row, kw_tensor *places, kw_tensor *out) {
  if (c->status != KW_OK || row->ref.numel == 0) return;
  const int64_t room = row->ref.numel + 1;
  kw_tensor *all = kw_compose_new(c, row->ref.dtype, 1, &room);
  kw_compose_fill(c, all, kw_arg_scalar_i64(0));
  if (c->status != KW_OK) return;
  kw_tensor *put = KW_OP(c, "index_put", T(all), kw_arg_tensor_list(&places, 1), T(row), kw_arg_bool(false));
  kw_compose_put(c, out, kw_compose_slice(c, put, 0, 0, row->ref.numel));
}

/* args: self, mask. */
kw_status kw_decompose_masked_select(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const kw_tensor_ref *self = args[0].u.tensor, *mask = args[1].u.tensor;
  int64_t shape[KW_MAX_RANK];
  const uint32_t rank = self->rank > mask->rank ? self->rank : mask->rank;
  for (uint32_t behind = 0; behind < rank; ++behind) { /* both, as they broadcast */
    const int64_t a = behind < self->rank ? self->shape[self->rank - 1 - behind] : 1;
    shape[rank - 1 - behind] = a == 1 && behind < mask->rank ? mask->shape[mask->rank - 1 - behind] : a;
  }
  kw_tensor *wide[2] = {NULL, NULL};
  for (uint32_t i = 0; i < 2 && c->status == KW_OK; ++i) {
    wide[i] = kw_compose_flat(c, kw_compose_expand(c, kw_value_as_tensor(&args[i]), rank, shape));
  }
  kw_tensor *places = c->status == KW_OK ? places_of(c, wide[1], outs[1]) : NULL;
  gather_selected(c, wide[0], places, outs[0]);
  return c->status;
}

kw_status kw_decompose_nonzero(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *self = kw_compose_flat(c, kw_value_as_tensor(&args[0]));
  const kw_tensor_ref *of = args[0].u.tensor;
  if (!self) return c->status;
  kw_tensor *is_zero = KW_OP(c, "eq.Tensor", T(self), T(kw_compose_integer(c, self->ref.dtype, 0)));
  kw_tensor *places = places_of(c, kw_compose_not(c, is_zero), outs[1]), *number = kw_compose_iota(c, self->ref.numel);
  for (uint32_t d = of->rank; d-- > 0 && c->status == KW_OK;) {
    const uint32_t since = c->count;
    kw_tensor *size = kw_compose_integer(c, KW_I64, of->shape[d]);
    kw_tensor *left = KW_OP(c, "div.Tensor_mode", T(number), T(size), kw_arg_string("floor"));
    kw_tensor *coordinate = kw_compose_difference(c, number, kw_compose_product(c, left, size));
    gather_selected(c, coordinate, places, kw_compose_select(c, outs[0], 1, d));
    kw_compose_drop(c, since, left, NULL);
    number = left;
  }
  return c->status;
}

/* ---- Triangles --------------------------------------------------------------------------------------------------- */

/* Whether column - row is at least, or at most, the diagonal. args: self, diagonal. */
static kw_status triangle(kw_composition *c, const kw_value *args, kw_tensor **outs, bool upper) {
  kw_tensor *self = kw_value_as_tensor(&args[0]);
  const uint32_t rank = self->ref.rank;
  const int64_t rows = self->ref.shape[rank - 2], columns = self->ref.shape[rank - 1];
  int64_t diagonal = args[1].u.i;
  if (diagonal > columns) diagonal = columns; /* further out is the same, and row + diagonal does not overflow */
  if (diagonal < -rows) diagonal = -rows;
  kw_tensor *row = kw_compose_sum(c, kw_compose_iota(c, rows), kw_compose_integer(c, KW_I64, diagonal));
  row = row ? kw_compose_view(c, row, 2, (int64_t[]){rows, 1}) : NULL;
  kw_tensor *column = kw_compose_iota(c, columns);
  kw_tensor *kept = upper ? kw_compose_le(c, row, column) : kw_compose_le(c, column, row);
  KW_INTO(c, outs[0], "where.self", T(kept), T(self), T(kw_compose_integer(c, self->ref.dtype, 0)));
  return c->status;
}

kw_status kw_decompose_triu(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return triangle(c, args, outs, true);
}

kw_status kw_decompose_tril(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return triangle(c, args, outs, false);
}

/* ---- Another order ----------------------------------------------------------------------------------------------- */

/* By gather from the last to the first. args: self, dims. */
kw_status kw_decompose_flip(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_value_as_tensor(&args[0]);
  for (uint32_t i = 0; i < args[1].count && x && x->ref.rank > 0; ++i) {
    const int64_t dim = kw_compose_dim(args[1].u.ints[i], x->ref.rank), size = x->ref.shape[dim];
    kw_tensor *from_end = kw_compose_difference(c, kw_compose_integer(c, KW_I64, size - 1), kw_compose_iota(c, size));
    kw_tensor *index = kw_compose_along(c, from_end, (uint32_t)dim, x->ref.rank);
    kw_tensor *wide = kw_compose_expand(c, index, x->ref.rank, x->ref.shape);
    x = KW_OP(c, "gather", T(x), kw_arg_int(dim), T(wide));
  }
  kw_compose_put(c, outs[0], x);
  return c->status;
}

/* Along one dimension: the end before the beginning. */
static kw_tensor *rolled(kw_composition *c, kw_tensor *x, int64_t dim, int64_t shift) {
  if (c->status != KW_OK || x->ref.numel == 0) return x;
  const int64_t size = x->ref.shape[dim], by = (shift % size + size) % size;
  kw_tensor *out = kw_compose_new(c, x->ref.dtype, x->ref.rank, x->ref.shape);
  kw_compose_put(c, kw_compose_slice(c, out, dim, by, size), kw_compose_slice(c, x, dim, 0, size - by));
  if (by > 0) kw_compose_put(c, kw_compose_slice(c, out, dim, 0, by), kw_compose_slice(c, x, dim, size - by, size));
  return out;
}

/* args: self, shifts, dims. */
kw_status kw_decompose_roll(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *self = kw_value_as_tensor(&args[0]), *x = self;
  if (args[2].count == 0) {
    x = rolled(c, kw_compose_flat(c, self), 0, args[1].u.ints[0]);
    if (c->status == KW_OK) kw_compose_put(c, outs[0], kw_compose_view(c, x, self->ref.rank, self->ref.shape));
    return c->status;
  }
  for (uint32_t i = 0; i < args[2].count && x->ref.rank > 0 && c->status == KW_OK; ++i) {
    x = rolled(c, x, kw_compose_dim(args[2].u.ints[i], x->ref.rank), args[1].u.ints[i]);
  }
  kw_compose_put(c, outs[0], x);
  return c->status;
}

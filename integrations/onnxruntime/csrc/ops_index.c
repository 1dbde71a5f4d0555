/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that find elements by their places, or the places of elements.
 */
#include <string.h>

#include "ops.h"

/* Places of which negative ones count from the end, as from the start. */
static value *from_start(run *run, const value *places, int64_t size) {
  const value *behind = CALL(run, "add.Scalar", arg(places), kw_arg_scalar_i64(size));
  return CALL(run, "where.self", arg(CALL(run, "lt.Scalar", arg(places), kw_arg_scalar_i64(0))), arg(behind),
              arg(places));
}

bool op_gather(run *run) {
  const value *x = run_input(run, 0), *places = run_input(run, 1), *picked;
  int64_t shape[2 * KW_MAX_RANK];
  unsigned axis, rank = 0;
  if (!x || !places || !run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)) return false;
  for (unsigned d = 0; d < axis; ++d) shape[rank++] = x->ref.shape[d];
  for (unsigned d = 0; d < places->ref.rank; ++d) shape[rank++] = places->ref.shape[d];
  for (unsigned d = axis + 1; d < x->ref.rank; ++d) shape[rank++] = x->ref.shape[d];
  if (rank > KW_MAX_RANK) return run_refuse(run, "rank %u", rank);
  places = run_reshape(run, from_start(run, places, x->ref.shape[axis]), 1, (int64_t[]){run_numel(places)});
  picked = CALL(run, "index_select", arg(x), kw_arg_int(axis), arg(places));
  return run_put_as(run, 0, picked, rank, shape);
}

bool op_gather_elements(run *run) {
  const value *x = run_input(run, 0), *places = run_input(run, 1);
  unsigned axis;
  if (!x || !places || !run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)) return false;
  return CALL_TO(run, 0, "gather", arg(x), kw_arg_int(axis), arg(from_start(run, places, x->ref.shape[axis])));
}

/* Of places in the last dimension of `places`, `depth` numbers each, one place in the `depth` dimensions of x from
 * `first` on taken as one: i64 [all but the last dimension]. */
static value *flat_places(run *run, const value *x, unsigned first, const value *places, int64_t depth) {
  const unsigned last = places->ref.rank - 1u;
  value *flat = NULL;
  for (int64_t i = 0; i < depth; ++i) {
    const int64_t size = x->ref.shape[first + i];
    value *one = run_cast(run, run_slice(run, places, last, i, 1, 1), KW_I64);
    one = from_start(run, one, size);
    if (flat) one = CALL(run, "add.Tensor", arg(CALL(run, "mul.Scalar", arg(flat), kw_arg_scalar_i64(size))), arg(one));
    flat = one;
  }
  return flat;
}

bool op_gather_nd(run *run) {
  const value *x = run_input(run, 0), *places = run_input(run, 1), *flat, *all;
  const unsigned batches = (unsigned)node_int(run->node, "batch_dims", 0);
  int64_t shape[2 * KW_MAX_RANK], depth, batch = 1, inner = 1, each = 1, count;
  unsigned rank = 0;
  if (!x || !places) return false;
  if (places->ref.rank == 0) return run_refuse(run, "places of rank 0");
  depth = places->ref.shape[places->ref.rank - 1];
  if (depth < 1 || batches + depth > x->ref.rank || batches >= places->ref.rank)
    return run_refuse(run, "%lld numbers a place", (long long)depth);
  for (unsigned d = 0; d + 1u < places->ref.rank; ++d) shape[rank++] = places->ref.shape[d];
  for (unsigned d = batches + (unsigned)depth; d < x->ref.rank; ++d) inner *= shape[rank++] = x->ref.shape[d];
  for (unsigned d = 0; d < batches; ++d) batch *= x->ref.shape[d];
  for (unsigned d = 0; d < depth; ++d) each *= x->ref.shape[batches + d];
  if (rank > KW_MAX_RANK) return run_refuse(run, "rank %u", rank);
  count = batch * each == 0 ? 0 : run_numel(places) / depth / batch;
  flat = run_reshape(run, flat_places(run, x, batches, places, depth), 2, (int64_t[]){batch, count});
  all = run_reshape(run, run_range(run, batch), 2, (int64_t[]){batch, 1});
  flat = CALL(run, "add.Tensor", arg(CALL(run, "mul.Scalar", arg(all), kw_arg_scalar_i64(each))), arg(flat));
  x = run_reshape(run, x, 2, (int64_t[]){batch * each, inner});
  flat = run_reshape(run, flat, 1, (int64_t[]){batch * count});
  return run_put_as(run, 0, CALL(run, "index_select", arg(x), kw_arg_int(0), arg(flat)), rank, shape);
}

/* Keyway's name of ONNX's reduction; NULL: none. */
static const char *reduction(run *run) {
  const char *name = node_text(run->node, "reduction", "none");
  if (strcmp(name, "add") == 0) return "sum";
  if (strcmp(name, "mul") == 0) return "prod";
  if (strcmp(name, "max") == 0) return "amax";
  if (strcmp(name, "min") == 0) return "amin";
  return NULL;
}

static value *scatter(run *run, const value *x, unsigned axis, const value *places, const value *updates) {
  const char *reduce = reduction(run);
  if (!reduce) return CALL(run, "scatter.src", arg(x), kw_arg_int(axis), arg(places), arg(updates));
  return CALL(run, "scatter_reduce.two", arg(x), kw_arg_int(axis), arg(places), arg(updates), kw_arg_string(reduce));
}

bool op_scatter_elements(run *run) {
  const value *x = run_input(run, 0), *places = run_input(run, 1), *updates = run_input(run, 2);
  unsigned axis;
  if (!x || !places || !run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)) return false;
  return run_put(run, 0, scatter(run, x, axis, from_start(run, places, x->ref.shape[axis]), updates));
}

bool op_scatter_nd(run *run) {
  const value *x = run_input(run, 0), *places = run_input(run, 1), *updates = run_input(run, 2), *flat, *whole;
  int64_t depth, each = 1, inner = 1, count, shape[2];
  if (!x || !places || !updates) return false;
  if (places->ref.rank == 0) return run_refuse(run, "places of rank 0");
  depth = places->ref.shape[places->ref.rank - 1];
  if (depth < 1 || depth > x->ref.rank) return run_refuse(run, "%lld numbers a place", (long long)depth);
  for (unsigned d = 0; d < x->ref.rank; ++d) *(d < depth ? &each : &inner) *= x->ref.shape[d];
  count = run_numel(places) / depth;
  shape[0] = count;
  shape[1] = inner;
  flat = run_reshape(run, flat_places(run, x, 0, places, depth), 2, (int64_t[]){count, 1});
  flat = run_contiguous(run, run_expand(run, flat, 2, shape));
  whole = scatter(run, run_reshape(run, x, 2, (int64_t[]){each, inner}), 0, flat, run_reshape(run, updates, 2, shape));
  return run_put_as(run, 0, whole, x->ref.rank, x->ref.shape);
}

/* Written along the axis from a place of each of the batch on; behind the end it goes on at the start (circular). */
bool op_tensor_scatter(run *run) {
  const value *x = run_input(run, 0), *update = run_input(run, 1), *first = run_input(run, 2), *places;
  int64_t along[KW_MAX_RANK], across[KW_MAX_RANK];
  unsigned axis;
  if (!x || !update || !run_axis(run, node_int(run->node, "axis", -2), x->ref.rank, &axis)) return false;
  for (unsigned d = 0; d < x->ref.rank; ++d) {
    along[d] = d == axis ? update->ref.shape[d] : 1;
    across[d] = d == 0 ? x->ref.shape[0] : 1;
  }
  places = run_reshape(run, run_range(run, update->ref.shape[axis]), x->ref.rank, along);
  if (first) places = CALL(run, "add.Tensor", arg(places), arg(run_reshape(run, first, x->ref.rank, across)));
  if (strcmp(node_text(run->node, "mode", "linear"), "circular") == 0)
    places = CALL(run, "remainder.Scalar", arg(places), kw_arg_scalar_i64(x->ref.shape[axis]));
  places = run_contiguous(run, run_expand(run, places, update->ref.rank, update->ref.shape));
  return CALL_TO(run, 0, "scatter.src", arg(x), kw_arg_int(axis), arg(places), arg(update));
}

/* off and on are the two numbers of input 2; places outside of the depth are all off. */
bool op_one_hot(run *run) {
  const value *places = run_input(run, 0), *numbers = run_input(run, 2), *range, *on;
  int64_t shape[KW_MAX_RANK], at[KW_MAX_RANK];
  double depth = 4;
  unsigned axis;
  if (!places || !numbers || !run_axis(run, node_int(run->node, "axis", -1), places->ref.rank + 1u, &axis))
    return false;
  if (places->ref.rank == KW_MAX_RANK) return run_refuse(run, "rank %u", places->ref.rank + 1u);
  if (!run_number(run, 1, &depth) && !run_asks(run)) return run_refuse(run, "its depth cannot be read");
  for (unsigned d = 0; d <= places->ref.rank; ++d) {
    shape[d] = d == axis ? 1 : places->ref.shape[d - (d > axis)];
    at[d] = d == axis ? (int64_t)depth : 1;
  }
  range = run_reshape(run, run_range(run, (int64_t)depth), places->ref.rank + 1u, at);
  places = from_start(run, run_cast(run, places, KW_I64), (int64_t)depth);
  places = run_reshape(run, places, places ? places->ref.rank + 1u : 0, shape);
  on = CALL(run, "eq.Tensor", arg(places), arg(range));
  return CALL_TO(run, 0, "where.self", arg(on), arg(run_slice(run, numbers, 0, 1, 1, 1)),
                 arg(run_slice(run, numbers, 0, 0, 1, 1)));
}

/* [rank, how many]: nonzero of Keyway, whose count only the run shows, turned. */
bool op_nonzero(run *run) {
  const value *x = run_input(run, 0);
  return x && run_put(run, 0, PERMUTE(run, COUNTED(run, "nonzero", arg(x)), 1, 0));
}

bool op_compress(run *run) {
  const value *x = run_input(run, 0), *condition = run_input(run, 1), *places;
  unsigned axis = 0;
  if (!x || !condition) return false;
  if (!node_has(run->node, "axis")) x = run_reshape(run, x, 1, (int64_t[]){run_numel(x)});
  if (!x || (node_has(run->node, "axis") && !run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)))
    return false;
  if (condition->ref.shape[0] > x->ref.shape[axis]) condition = run_slice(run, condition, 0, 0, x->ref.shape[axis], 1);
  places = COUNTED(run, "nonzero", arg(condition));
  if (!places) return false;
  return run_put(run, 0,
                 CALL(run, "index_select", arg(x), kw_arg_int(axis),
                      arg(run_reshape(run, places, 1, (int64_t[]){places->ref.shape[0]}))));
}

bool op_top_k(run *run) {
  const value *x = run_input(run, 0);
  const int to[RUN_MAX_RESULTS] = {0, 1, -1, -1};
  unsigned axis;
  ints k;
  run_ints_or(run, 1, &k, (int64_t[]){1}, 1);
  if (!x || run->failed || !run_axis(run, node_int(run->node, "axis", -1), x->ref.rank, &axis)) return false;
  if (k.count == 0) return run_refuse(run, "no k");
  return run_op(run, "topk",
                (kw_value[]){arg(x), kw_arg_int(k.at[0]), kw_arg_int(axis),
                             kw_arg_bool(node_int(run->node, "largest", 1)), kw_arg_bool(true)},
                5, NULL, to);
}

/* The last of equal ones is the first of the dimension turned round. */
static bool arg_extreme(run *run, const char *op) {
  const value *x = run_input(run, 0);
  const bool keep = node_int(run->node, "keepdims", 1), last = node_int(run->node, "select_last_index", 0);
  unsigned axis;
  if (!x || !run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)) return false;
  if (!last) return CALL_TO(run, 0, op, arg(x), kw_arg_int(axis), kw_arg_bool(keep));
  const int64_t dims[] = {axis}, size = x->ref.shape[axis];
  x = CALL(run, op, arg(CALL(run, "flip", arg(x), kw_arg_int_list(dims, 1))), kw_arg_int(axis), kw_arg_bool(keep));
  return CALL_TO(run, 0, "add.Scalar", arg(CALL(run, "neg", arg(x))), kw_arg_scalar_i64(size - 1));
}

bool op_arg_max(run *run) {
  return arg_extreme(run, "argmax");
}

bool op_arg_min(run *run) {
  return arg_extreme(run, "argmin");
}

/* Sums, or products, up to each place: with it, without it (exclusive), or from the end (reverse). */
static bool cumulate(run *run, const char *op, int64_t neutral) {
  const value *x = run_input(run, 0);
  unsigned axis;
  ints axes;
  run_ints_or(run, 1, &axes, (int64_t[]){0}, 1);
  if (!x || run->failed) return false;
  if (axes.count == 0) return run_refuse(run, "no axis");
  if (!run_axis(run, axes.at[0], x->ref.rank, &axis)) return false;
  const int64_t dims[] = {axis}, size = x->ref.shape[axis];
  const bool reverse = node_int(run->node, "reverse", 0);
  const kw_dtype dtype = x->ref.dtype;
  if (reverse) x = CALL(run, "flip", arg(x), kw_arg_int_list(dims, 1));
  if (x && node_int(run->node, "exclusive", 0)) {
    int64_t pads[2 * KW_MAX_RANK] = {0};
    pads[2 * (x->ref.rank - 1 - axis)] = 1;
    x = CALL(run, "constant_pad_nd", arg(run_slice(run, x, axis, 0, size - 1, 1)),
             kw_arg_int_list(pads, 2u * (x->ref.rank - axis)), kw_arg_scalar_i64(neutral));
  }
  if (!reverse) return CALL_TO(run, 0, op, arg(x), kw_arg_int(axis), kw_arg_dtype(dtype));
  return CALL_TO(run, 0, "flip", arg(CALL(run, op, arg(x), kw_arg_int(axis), kw_arg_dtype(dtype))),
                 kw_arg_int_list(dims, 1));
}

bool op_cum_sum(run *run) {
  return cumulate(run, "cumsum", 0);
}

bool op_cum_prod(run *run) {
  return cumulate(run, "cumprod", 1);
}

/* The first lengths[i] elements of sequence i turned round. */
bool op_reverse_sequence(run *run) {
  const value *x = run_input(run, 0), *lengths = run_input(run, 1), *places, *turned;
  int64_t along[KW_MAX_RANK], across[KW_MAX_RANK];
  unsigned batch, time;
  if (!x || !lengths || !run_axis(run, node_int(run->node, "batch_axis", 1), x->ref.rank, &batch) ||
      !run_axis(run, node_int(run->node, "time_axis", 0), x->ref.rank, &time))
    return false;
  for (unsigned d = 0; d < x->ref.rank; ++d) {
    along[d] = d == time ? x->ref.shape[d] : 1;
    across[d] = d == batch ? x->ref.shape[d] : 1;
  }
  places = run_reshape(run, run_range(run, x->ref.shape[time]), x->ref.rank, along);
  lengths = run_reshape(run, run_cast(run, lengths, KW_I64), x->ref.rank, across);
  turned = CALL(run, "sub.Scalar", arg(CALL(run, "sub.Tensor", arg(lengths), arg(places))), kw_arg_scalar_i64(1));
  places = CALL(run, "where.self", arg(CALL(run, "lt.Tensor", arg(places), arg(lengths))), arg(turned), arg(places));
  places = run_contiguous(run, run_expand(run, places, x->ref.rank, x->ref.shape));
  return CALL_TO(run, 0, "gather", arg(x), kw_arg_int(time), arg(places));
}

/* ---- What there is of different ones ----------------------------------------------------------------------------- */

/* The order of rows [n, m], the first column counting most; equal ones as they lie. */
static value *order_of(run *run, const value *rows) {
  const value *order = run_range(run, rows->ref.shape[0]), *none = NULL;
  value *results[RUN_MAX_RESULTS] = {NULL};
  for (int64_t i = rows->ref.shape[1]; i-- > 0 && !run->failed;) {
    const unsigned mark = run->value_count;
    const value *column = run_reshape(run, run_slice(run, rows, 1, i, 1, 1), 1, rows->ref.shape);
    column = CALL(run, "index_select", arg(column), kw_arg_int(0), arg(order));
    run_op(run, "sort.stable", (kw_value[]){arg(column), kw_arg_bool(true), kw_arg_int(0), kw_arg_bool(false)}, 4,
           results, NULL);
    order = CALL(run, "index_select", arg(order), kw_arg_int(0), arg(results[1]));
    run_forget(run, mark, &order, &none);
    if (run_asks(run)) break; /* every column is the same */
  }
  return (value *)(uintptr_t)order;
}

/* Of sorted rows: whether each is another one than the row before. */
static value *begins(run *run, const value *rows) {
  value *parts[2];
  const kw_tensor_ref *refs[2];
  if (!rows) return NULL;
  const int64_t n = rows->ref.shape[0];
  parts[0] = CALL(run, "full", kw_arg_int_list((int64_t[]){1}, 1), kw_arg_scalar_bool(true), kw_arg_dtype(KW_BOOL));
  parts[1] =
      CALL(run, "ne.Tensor", arg(run_slice(run, rows, 0, 1, n - 1, 1)), arg(run_slice(run, rows, 0, 0, n - 1, 1)));
  parts[1] = CALL(run, "any.dim", arg(parts[1]), kw_arg_int(1), kw_arg_bool(false));
  return run->failed ? NULL : CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(0));
}

/* places[i] of the elements of an order stand at i: the order's inverse with numbers put in. */
static value *put_back(run *run, const value *order, const value *numbers) {
  const value *zeros = CALL(run, "full_like", arg(order), kw_arg_scalar_i64(0));
  return CALL(run, "scatter.src", arg(zeros), kw_arg_int(0), arg(order), arg(numbers));
}

/* How many rows there are of each, from where each begins in a sorted order of n. */
static value *lengths(run *run, const value *starts, int64_t n) {
  value *parts[2];
  const kw_tensor_ref *refs[2];
  if (!starts) return NULL;
  parts[0] = run_slice(run, starts, 0, 1, starts->ref.shape[0] - 1, 1);
  parts[1] = CALL(run, "full", kw_arg_int_list((int64_t[]){1}, 1), kw_arg_scalar_i64(n), kw_arg_dtype(KW_I64));
  if (run->failed) return NULL;
  return CALL(run, "sub.Tensor", arg(CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(0))), arg(starts));
}

/* Outputs of rows that `first` names, the first ones of their kind: [m, ...] turned back to where the axis was. */
static bool put_unique(run *run, const value *x, const value *first, const value *inverse, const value *counts) {
  unsigned axis = 0;
  if (!node_has(run->node, "axis")) x = run_reshape(run, x, 1, (int64_t[]){run_numel(x)});
  if (!x || (node_has(run->node, "axis") && !run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)))
    return false;
  return run_put(run, 0, CALL(run, "index_select", arg(x), kw_arg_int(axis), arg(first))) &&
         (!run_wants(run, 1) || run_put(run, 1, first)) && (!run_wants(run, 2) || run_put(run, 2, inverse)) &&
         (!run_wants(run, 3) || run_put(run, 3, counts));
}

/* The slices along the axis as rows. */
static value *rows_along(run *run, const value *x) {
  int64_t order[KW_MAX_RANK];
  unsigned axis;
  if (!node_has(run->node, "axis")) return run_reshape(run, x, 2, (int64_t[]){run_numel(x), 1});
  if (!run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)) return NULL;
  for (unsigned d = 0; d < x->ref.rank; ++d) order[d] = d == 0 ? axis : d - (d <= axis);
  return run_flatten(run, run_permute(run, x, order), 1);
}

bool op_unique(run *run) {
  const value *x = run_input(run, 0), *rows, *order, *new, *inverse, *starts, *first, *counts;
  value *results[RUN_MAX_RESULTS] = {NULL};
  if (!x) return run_refuse(run, "an input is missing");
  rows = rows_along(run, x);
  if (!rows) return false;
  const int64_t n = rows->ref.shape[0];
  order = order_of(run, rows);
  if (n == 0) return put_unique(run, x, order, order, order);
  new = begins(run, CALL(run, "index_select", arg(rows), kw_arg_int(0), arg(order)));
  inverse = CALL(run, "cumsum", arg(run_cast(run, new, KW_I64)), kw_arg_int(0), kw_arg_dtype(KW_I64));
  inverse = put_back(run, order, CALL(run, "sub.Scalar", arg(inverse), kw_arg_scalar_i64(1)));
  starts = COUNTED(run, "nonzero", arg(new));
  starts = starts ? run_reshape(run, starts, 1, starts->ref.shape) : NULL;
  first = CALL(run, "index_select", arg(order), kw_arg_int(0), arg(starts));
  counts = lengths(run, starts, n);
  if (node_int(run->node, "sorted", 1)) return put_unique(run, x, first, inverse, counts);
  run_op(run, "sort.stable", (kw_value[]){arg(first), kw_arg_bool(true), kw_arg_int(0), kw_arg_bool(false)}, 4, results,
         NULL);
  counts = CALL(run, "index_select", arg(counts), kw_arg_int(0), arg(results[1]));
  inverse = CALL(run, "index_select",
                 arg(put_back(run, results[1], run_range(run, results[1] ? results[1]->ref.shape[0] : 0))),
                 kw_arg_int(0), arg(inverse));
  return put_unique(run, x, results[0], inverse, counts);
}

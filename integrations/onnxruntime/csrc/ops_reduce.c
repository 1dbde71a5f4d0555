/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions: over axes that an attribute names, or, in newer versions, an input.
 */
#include <string.h>

#include "ops.h"

typedef struct dims {
  int64_t at[KW_MAX_RANK]; /* each once */
  unsigned count;
  bool keep;
  bool none; /* nothing is reduced */
} dims;

static bool read_dims(run *run, unsigned rank, dims *out_dims) {
  unsigned count = 0, axis;
  const int64_t *named = node_ints(run->node, "axes", &count);
  ints given = {.count = 0};
  out_dims->keep = node_int(run->node, "keepdims", 1);
  out_dims->count = 0;
  if (run_has_ints(run, 1)) {
    run_ints_or(run, 1, &given, (int64_t[]){0}, rank > 0);
    named = given.at;
    count = given.count;
  }
  if (run->failed) return false;
  out_dims->none = count == 0 && node_int(run->node, "noop_with_empty_axes", 0);
  for (unsigned i = 0; i < count; ++i) {
    bool before = false;
    if (!run_axis(run, named[i], rank, &axis)) return false;
    for (unsigned j = 0; j < out_dims->count; ++j) before = before || out_dims->at[j] == axis;
    if (!before) out_dims->at[out_dims->count++] = axis;
  }
  if (count == 0)
    for (unsigned d = 0; d < rank; ++d) out_dims->at[out_dims->count++] = d;
  return true;
}

static kw_value list_of(const dims *dims) {
  return kw_arg_int_list(dims->at, dims->count);
}

/* An op with dims, keepdim; its result to the output with `to`, or returned. */
static value *reduce(run *run, const char *op, const value *x, const dims *dims, bool typed, bool to) {
  kw_value args[] = {arg(x), list_of(dims), kw_arg_bool(dims->keep),
                     typed ? kw_arg_dtype(x ? x->ref.dtype : KW_F32) : kw_arg_none()};
  if (!x || run->failed) return NULL;
  if (dims->none || x->ref.rank == 0) return to ? (run_put(run, 0, x), NULL) : (value *)(uintptr_t)x;
  if (to) return run_call_to(run, 0, op, args, typed ? 4 : 3), NULL;
  return run_call(run, op, args, typed ? 4 : 3);
}

/* reduce(f(x)), and g of that. */
static bool reduce_with(run *run, const char *before, const char *op, bool typed, const char *after) {
  const value *x = run_input(run, 0);
  dims dims;
  if (!x || !read_dims(run, x->ref.rank, &dims)) return false;
  if (before && strcmp(before, "square") == 0) {
    x = CALL(run, "mul.Tensor", arg(x), arg(x));
  } else if (before) {
    x = CALL(run, before, arg(x));
  }
  x = reduce(run, op, x, &dims, typed, !after);
  if (!after) return !run->failed;
  return CALL_TO(run, 0, after, arg(x));
}

bool op_reduce_sum(run *run) {
  return reduce_with(run, NULL, "sum.dim_IntList", true, NULL);
}

bool op_reduce_l1(run *run) {
  return reduce_with(run, "abs", "sum.dim_IntList", true, NULL);
}

bool op_reduce_l2(run *run) {
  return reduce_with(run, "square", "sum.dim_IntList", true, "sqrt");
}

bool op_reduce_sum_square(run *run) {
  return reduce_with(run, "square", "sum.dim_IntList", true, NULL);
}

bool op_reduce_log_sum(run *run) {
  return reduce_with(run, NULL, "sum.dim_IntList", true, "log");
}

bool op_reduce_log_sum_exp(run *run) {
  const value *x = run_input(run, 0);
  dims dims;
  if (!x || !read_dims(run, x->ref.rank, &dims)) return false;
  reduce(run, "logsumexp", x, &dims, false, true);
  return !run->failed;
}

/* The mean of integers is cut. */
bool op_reduce_mean(run *run) {
  const value *x = run_input(run, 0), *sum;
  int64_t count = 1;
  dims dims;
  if (!x || !read_dims(run, x->ref.rank, &dims)) return false;
  if (x->ref.dtype >= KW_F16) return reduce(run, "mean.dim", x, &dims, true, true), !run->failed;
  for (unsigned i = 0; i < dims.count; ++i) count *= x->ref.shape[dims.at[i]];
  sum = reduce(run, "sum.dim_IntList", x, &dims, true, false);
  return CALL_TO(run, 0, "div.Scalar_mode", arg(sum), kw_arg_scalar_i64(count), kw_arg_string("trunc"));
}

/* Of nothing: the smallest number there is, or the largest. */
static bool extreme(run *run, const char *op, bool largest) {
  const value *x = run_input(run, 0);
  int64_t shape[KW_MAX_RANK];
  unsigned rank = 0;
  dims dims;
  if (!x || !read_dims(run, x->ref.rank, &dims)) return false;
  if (run_numel(x) != 0 || dims.none) return reduce(run, op, x, &dims, false, true), !run->failed;
  for (unsigned d = 0; d < x->ref.rank; ++d) {
    bool gone = false;
    for (unsigned i = 0; i < dims.count; ++i) gone = gone || dims.at[i] == d;
    if (!gone || dims.keep) shape[rank++] = gone ? 1 : x->ref.shape[d];
  }
  return CALL_TO(run, 0, "full", kw_arg_int_list(shape, rank),
                 x->ref.dtype == KW_BOOL ? kw_arg_scalar_bool(!largest)
                                         : kw_arg_scalar_f64(largest ? -1e300 * 1e300 : 1e300 * 1e300),
                 kw_arg_dtype(x->ref.dtype));
}

bool op_reduce_max(run *run) {
  return extreme(run, "amax", true);
}

bool op_reduce_min(run *run) {
  return extreme(run, "amin", false);
}

/* One dimension at a time. */
bool op_reduce_prod(run *run) {
  const value *x = run_input(run, 0);
  dims dims;
  if (!x || !read_dims(run, x->ref.rank, &dims)) return false;
  if (dims.none || x->ref.rank == 0) return run_put(run, 0, x);
  const kw_dtype dtype = x->ref.dtype;
  /* From the last dimension on, so that those before keep their numbers where reduced ones go. */
  for (unsigned d = x->ref.rank; d-- > 0;)
    for (unsigned i = 0; i < dims.count; ++i)
      if (dims.at[i] == d)
        x = CALL(run, "prod.dim_int", arg(x), kw_arg_int(d), kw_arg_bool(dims.keep), kw_arg_dtype(dtype));
  return x && run_put(run, 0, x);
}

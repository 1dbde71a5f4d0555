/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products: of matrices, of stacks of them, and with a third one added.
 */
#include <string.h>

#include "ops.h"

/* Sizes that are guessed before the model runs may contradict known ones: of two that have to agree the smaller counts.
 * `a` and `b` become values that do. */
static void agree(run *run, const value **a, const value **b) {
  const unsigned ranks[] = {(*a)->ref.rank, (*b)->ref.rank};
  int64_t left[KW_MAX_RANK], right[KW_MAX_RANK];
  if (!run_asks(run) || !run->guessed || ranks[0] < 2 || ranks[1] < 2) return;
  memcpy(left, (*a)->ref.shape, sizeof left);
  memcpy(right, (*b)->ref.shape, sizeof right);
  for (unsigned back = 3; back <= ranks[0] && back <= ranks[1]; ++back) {
    int64_t *of_a = &left[ranks[0] - back], *of_b = &right[ranks[1] - back];
    if (*of_a != 1 && *of_b != 1) *of_a = *of_b = *of_a < *of_b ? *of_a : *of_b;
  }
  int64_t *inner_a = &left[ranks[0] - 1], *inner_b = &right[ranks[1] - 2];
  *inner_a = *inner_b = *inner_a < *inner_b ? *inner_a : *inner_b;
  *a = run_empty(run, (*a)->ref.dtype, ranks[0], left);
  *b = run_empty(run, (*b)->ref.dtype, ranks[1], right);
}

/* Rows of a stack of matrices with one matrix: all of them at once. */
static value *rows_by_matrix(run *run, const value *a, const value *b, unsigned rank, const int64_t *shape,
                             int output) {
  const int64_t inner = a->ref.shape[a->ref.rank - 1], rows = run_numel_from(a, 0) / (inner ? inner : 1);
  const value *flat = run_reshape(run, a, 2, (int64_t[]){rows, inner});
  const value *matrix = run_reshape(run, b, 2, b->ref.shape + b->ref.rank - 2);
  const kw_value args[] = {arg(flat), arg(matrix)};
  if (output < 0) return run_reshape(run, run_call(run, "mm", args, 2), rank, shape);
  run_call_as(run, (unsigned)output, rank, shape, "mm", args, 2);
  return NULL;
}

/* NumPy's matmul: a vector is a row or a column, dimensions before the last two broadcast. */
value *run_matmul(run *run, const value *a, const value *b, int output) {
  int64_t batch[KW_MAX_RANK], left[KW_MAX_RANK], right[KW_MAX_RANK], result[KW_MAX_RANK];
  const bool row = a && a->ref.rank == 1, column = b && b->ref.rank == 1;
  kw_value args[2];
  unsigned batches, rank;
  if (!a || !b || run->failed) return NULL;
  if (a->ref.rank == 0 || b->ref.rank == 0) return run_refuse(run, "a product of rank 0"), NULL;
  if (row) a = run_unsqueeze(run, a, 0);
  if (column) b = run_unsqueeze(run, b, 1);
  if (!a || !b) return NULL;
  agree(run, &a, &b);
  if (!a || !b) return NULL;
  if (a->ref.rank == 2 && b->ref.rank == 2 && !row && !column) {
    if (output >= 0) return CALL_TO(run, (unsigned)output, "mm", arg(a), arg(b)), NULL;
    return CALL(run, "mm", arg(a), arg(b));
  }
  rank = a->ref.rank > b->ref.rank ? a->ref.rank : b->ref.rank;
  batches = rank - 2;
  for (unsigned d = 0; d < batches; ++d) {
    const int from_a = (int)d - (int)(rank - a->ref.rank), from_b = (int)d - (int)(rank - b->ref.rank);
    const int64_t of_a = from_a >= 0 ? a->ref.shape[from_a] : 1, of_b = from_b >= 0 ? b->ref.shape[from_b] : 1;
    batch[d] = of_a == 1 ? of_b : of_a;
  }
  memcpy(left, batch, sizeof left);
  memcpy(right, batch, sizeof right);
  memcpy(left + batches, a->ref.shape + a->ref.rank - 2, 2 * sizeof *left);
  memcpy(right + batches, b->ref.shape + b->ref.rank - 2, 2 * sizeof *right);
  memcpy(result, batch, sizeof result);
  rank = batches;
  if (!row) result[rank++] = left[batches];
  if (!column) result[rank++] = right[batches + 1];
  if (run_numel_from(b, b->ref.rank - 2u) == run_numel(b) && a->ref.shape[a->ref.rank - 1] > 0)
    return rows_by_matrix(run, a, b, rank, result, output);
  a = run_expand(run, a, batches + 2, left);
  b = run_expand(run, b, batches + 2, right);
  for (unsigned d = 1; d < batches; ++d) batch[0] *= batch[d];
  left[0] = right[0] = batches ? batch[0] : 1;
  memmove(left + 1, left + batches, 2 * sizeof *left);
  memmove(right + 1, right + batches, 2 * sizeof *right);
  args[0] = arg(run_reshape(run, a, 3, left));
  args[1] = arg(run_reshape(run, b, 3, right));
  if (output < 0) return run_reshape(run, run_call(run, "bmm", args, 2), rank, result);
  run_call_as(run, (unsigned)output, rank, result, "bmm", args, 2);
  return NULL;
}

bool op_matmul(run *run) {
  run_matmul(run, run_input(run, 0), run_input(run, 1), 0);
  return !run->failed;
}

bool op_gemm(run *run) {
  const value *a = run_input(run, 0), *b = run_input(run, 1), *c = run_input(run, 2);
  const double alpha = node_float(run->node, "alpha", 1), beta = node_float(run->node, "beta", 1);
  if (!a || !b) return run_refuse(run, "an input is missing");
  if (node_int(run->node, "transA", 0)) a = PERMUTE(run, a, 1, 0);
  if (node_int(run->node, "transB", 0)) b = PERMUTE(run, b, 1, 0);
  if (!a || !b) return false;
  if (!c && alpha == 1) return CALL_TO(run, 0, "mm", arg(a), arg(b));
  if (!c) return CALL_TO(run, 0, "mul.Scalar", arg(CALL(run, "mm", arg(a), arg(b))), kw_arg_scalar_f64(alpha));
  if (c->ref.rank > 2) return run_refuse(run, "C of rank %u", c->ref.rank);
  return CALL_TO(run, 0, "addmm", arg(c), arg(a), arg(b), kw_arg_scalar_f64(beta), kw_arg_scalar_f64(alpha));
}

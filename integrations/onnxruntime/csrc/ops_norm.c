/* SPDX-License-Identifier: Apache-2.0
 *
 * Norms of batches, groups, layers and rows; the softmax of old versions.
 */
#include <string.h>

#include "ops.h"

/* A value [C] in the place of dimension 1. */
static value *per_channel(run *run, const value *of, unsigned rank) {
  int64_t shape[KW_MAX_RANK];
  for (unsigned d = 0; d < rank; ++d) shape[d] = d == 1 && of ? of->ref.shape[0] : 1;
  return run_reshape(run, of, rank, shape);
}

/* In training: by the mean and variance of the batch, which then move those that are kept. */
static bool batch_norm_training(run *run, const value *x) {
  const double momentum = node_float(run->node, "momentum", 0.9), epsilon = node_float(run->node, "epsilon", 1e-5);
  value *results[RUN_MAX_RESULTS] = {NULL};
  const value *kept[2] = {run_input(run, 3), run_input(run, 4)}, *scaled;
  int64_t dims[KW_MAX_RANK];
  unsigned count = 0;
  for (unsigned d = 0; d < x->ref.rank; ++d)
    if (d != 1) dims[count++] = d;
  if (!run_op(run, "var_mean.correction",
              (kw_value[]){arg(x), kw_arg_int_list(dims, count), kw_arg_scalar_i64(0), kw_arg_bool(false)}, 4, results,
              NULL))
    return false;
  for (unsigned i = 0; i < 2; ++i) {
    const value *fresh =
        CALL(run, "mul.Scalar", arg(run_cast(run, results[1 - i], kept[i] ? kept[i]->ref.dtype : KW_F32)),
             kw_arg_scalar_f64(1 - momentum));
    if (run_wants(run, 1 + i) &&
        !CALL_TO(run, 1 + i, "add.Tensor", arg(CALL(run, "mul.Scalar", arg(kept[i]), kw_arg_scalar_f64(momentum))),
                 arg(fresh)))
      return false;
  }
  scaled = CALL(run, "rsqrt", arg(CALL(run, "add.Scalar", arg(results[0]), kw_arg_scalar_f64(epsilon))));
  scaled = CALL(run, "mul.Tensor", arg(scaled), arg(run_input(run, 1)));
  x = CALL(run, "sub.Tensor", arg(x), arg(per_channel(run, results[1], x->ref.rank)));
  if (!x) return false;
  x = CALL(run, "mul.Tensor", arg(x), arg(per_channel(run, scaled, x->ref.rank)));
  return x && CALL_TO(run, 0, "add.Tensor", arg(x), arg(per_channel(run, run_input(run, 2), x->ref.rank)));
}

bool op_batch_norm(run *run) {
  const value *x = run_input(run, 0);
  if (!x) return false;
  if (node_int(run->node, "training_mode", 0)) return batch_norm_training(run, x);
  return CALL_TO(run, 0, "_native_batch_norm_legit_no_training", arg(x), arg(run_input(run, 1)), arg(run_input(run, 2)),
                 arg(run_input(run, 3)), arg(run_input(run, 4)), kw_arg_float(0.1),
                 kw_arg_float(node_float(run->node, "epsilon", 1e-5)));
}

static bool group_norm(run *run, int64_t groups) {
  const value *x = run_input(run, 0);
  if (!x || x->ref.rank < 2) return run_refuse(run, "it has no channels");
  const int64_t n = x->ref.shape[0], c = x->ref.shape[1], rest = run_numel_from(x, 2);
  return CALL_TO(run, 0, "native_group_norm", arg(x), arg(run_input(run, 1)), arg(run_input(run, 2)), kw_arg_int(n),
                 kw_arg_int(c), kw_arg_int(rest), kw_arg_int(groups ? groups : c),
                 kw_arg_float(node_float(run->node, "epsilon", 1e-5)));
}

bool op_instance_norm(run *run) {
  return group_norm(run, 0);
}

bool op_group_norm(run *run) {
  return group_norm(run, node_int(run->node, "num_groups", 1));
}

/* A weight or bias of all dimensions from the axis on; one that broadcasts is spread. NULL where it is another one for
 * different places before the axis, or there is none. */
static value *spread(run *run, const value *of, const value *x, unsigned axis) {
  const unsigned rank = x->ref.rank - axis;
  if (!of || of->ref.rank > rank) return NULL;
  if (of->ref.rank == rank && memcmp(of->ref.shape, x->ref.shape + axis, rank * sizeof(int64_t)) == 0)
    return (value *)(uintptr_t)of;
  return run_contiguous(run, run_expand(run, of, rank, x->ref.shape + axis));
}

/* Weight and bias, or none, as the op takes them; else they follow it. */
typedef struct affine {
  const value *weight, *bias; /* of the node */
  value *spread_weight, *spread_bias;
  bool after;
} affine;

static affine read_affine(run *run, const value *x, unsigned axis) {
  affine a = {.weight = run_input(run, 1), .bias = run_input(run, 2)};
  a.spread_weight = spread(run, a.weight, x, axis);
  a.spread_bias = spread(run, a.bias, x, axis);
  a.after = (a.weight && !a.spread_weight) || (a.bias && !a.spread_bias);
  if (a.after) a.spread_weight = a.spread_bias = NULL;
  return a;
}

static bool put_affine(run *run, const value *x, const affine *a) {
  x = CALL(run, "mul.Tensor", arg(x), arg(a->weight));
  if (x && a->bias) x = CALL(run, "add.Tensor", arg(x), arg(a->bias));
  return x && run_put(run, 0, x);
}

bool op_layer_norm(run *run) {
  const value *x = run_input(run, 0);
  value *results[RUN_MAX_RESULTS] = {NULL};
  int to[RUN_MAX_RESULTS] = {0, run_wants(run, 1) ? 1 : -1, run_wants(run, 2) ? 2 : -1, -1};
  unsigned axis;
  if (!x || !run_axis(run, node_int(run->node, "axis", -1), x->ref.rank, &axis)) return false;
  const affine a = read_affine(run, x, axis);
  if (a.after) to[0] = -1;
  if (!run_op(run, "native_layer_norm",
              (kw_value[]){arg(x), kw_arg_int_list(x->ref.shape + axis, x->ref.rank - axis), arg(a.spread_weight),
                           arg(a.spread_bias), kw_arg_float(node_float(run->node, "epsilon", 1e-5))},
              5, results, to))
    return false;
  return !a.after || put_affine(run, results[0], &a);
}

bool op_rms_norm(run *run) {
  const value *x = run_input(run, 0);
  unsigned axis;
  kw_value args[4];
  if (!x || !run_axis(run, node_int(run->node, "axis", -1), x->ref.rank, &axis)) return false;
  const affine a = read_affine(run, x, axis);
  args[0] = arg(x);
  args[1] = kw_arg_int_list(x->ref.shape + axis, x->ref.rank - axis);
  args[2] = arg(a.spread_weight);
  args[3] = kw_arg_float(node_float(run->node, "epsilon", 1e-5));
  return a.after ? put_affine(run, run_call(run, "rms_norm", args, 4), &a) : run_call_to(run, 0, "rms_norm", args, 4);
}

/* x / norm along an axis; 0 where the norm is. */
bool op_lp_norm(run *run) {
  const value *x = run_input(run, 0), *norm, *none;
  const int64_t p = node_int(run->node, "p", 2);
  unsigned axis;
  if (!x || !run_axis(run, node_int(run->node, "axis", -1), x->ref.rank, &axis)) return false;
  const int64_t dims[] = {axis};
  norm = p == 1 ? CALL(run, "abs", arg(x)) : CALL(run, "mul.Tensor", arg(x), arg(x));
  norm = CALL(run, "sum.dim_IntList", arg(norm), kw_arg_int_list(dims, 1), kw_arg_bool(true));
  if (p == 2) norm = CALL(run, "sqrt", arg(norm));
  none = CALL(run, "eq.Scalar", arg(norm), kw_arg_scalar_i64(0));
  return CALL_TO(run, 0, "masked_fill.Scalar", arg(CALL(run, "div.Tensor", arg(x), arg(norm))), arg(none),
                 kw_arg_scalar_i64(0));
}

bool op_mean_variance_norm(run *run) {
  static const int64_t usual[] = {0, 2, 3};
  const value *x = run_input(run, 0), *deviation;
  value *results[RUN_MAX_RESULTS] = {NULL};
  unsigned count = 3;
  const int64_t *axes = node_ints(run->node, "axes", &count);
  if (!axes) count = 3;
  if (!run_op(
          run, "var_mean.correction",
          (kw_value[]){arg(x), kw_arg_int_list(axes ? axes : usual, count), kw_arg_scalar_i64(0), kw_arg_bool(true)}, 4,
          results, NULL))
    return false;
  deviation = CALL(run, "add.Scalar", arg(CALL(run, "sqrt", arg(results[0]))), kw_arg_scalar_f64(1e-9));
  return CALL_TO(run, 0, "div.Tensor", arg(CALL(run, "sub.Tensor", arg(x), arg(results[1]))), arg(deviation));
}

/* Before version 13: over all dimensions from the axis on. */
static bool old_softmax(run *run, const char *op) {
  const value *x = run_input(run, 0);
  unsigned axis;
  if (!x || !run_axis(run, node_int(run->node, "axis", 1), x->ref.rank, &axis)) return false;
  x = CALL(run, op, arg(run_flatten(run, x, axis)), kw_arg_int(1), kw_arg_bool(false));
  return x && run_put_as(run, 0, x, run_input(run, 0)->ref.rank, run_input(run, 0)->ref.shape);
}

bool op_old_softmax(run *run) {
  return old_softmax(run, "_softmax");
}

bool op_old_log_softmax(run *run) {
  return old_softmax(run, "_log_softmax");
}

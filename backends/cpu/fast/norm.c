/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalisation: rows, each of which is walked two or three times while it is near.
 */
#include "norm.h"

#include "dims.h"
#include "operand.h"
#include "walk.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

/* ---- Normalisation ----------------------------------------------------------------------------------------------- */

typedef enum norm_kind {
  NORM_CENTRED, /* by their own mean and variance */
  NORM_SQUARES, /* by their own mean of squares */
  NORM_GIVEN    /* by means and variances that are given */
} norm_kind;

/* Operands of the rows. Mean and rstd are results, or where they are given arguments. */
enum { OUT, IN, WEIGHT, BIAS, MEAN, RSTD, RUNNING_MEAN, RUNNING_VARIANCE, NORM_OPERANDS };

/* An op of the family: which arguments are what; 0: there is none, for argument 0 is the input. */
typedef struct norm_op {
  norm_kind kind;
  kw_norm_rows rows;
  int weight, bias, eps;
  int detail;   /* the normalised shape, or how many groups */
  int given;    /* the means, and behind them the variances */
  int training; /* where it says no the given statistics are meant; otherwise a step becomes part of them */
  int momentum;
} norm_op;

typedef struct norm_plan {
  kw_rows rows;
  kw_loop measured; /* a row of the input alone: weights take it apart where they are not its elements' own */
  norm_kind kind;
  kw_lane lane;
  bool has[NORM_OPERANDS];
  kw_port ports[NORM_OPERANDS];
} norm_plan;
_Static_assert(sizeof(norm_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

typedef struct norm_run {
  const norm_plan *plan;
  double eps, momentum;
  char *base[NORM_OPERANDS];
} norm_run;

/* The tensors of a call by operand, NULL where there is none. */
static void norm_tensors(const norm_op *op, norm_kind kind, const kw_call *call,
                         const kw_tensor_ref *out_tensors[NORM_OPERANDS]) {
  const kw_value *args = call->args;
  for (uint32_t k = 0; k < NORM_OPERANDS; k++) out_tensors[k] = NULL;
  out_tensors[OUT] = call->outs[0];
  out_tensors[IN] = args[0].u.tensor;
  if (args[op->weight].tag == KW_TAG_TENSOR) out_tensors[WEIGHT] = args[op->weight].u.tensor;
  if (op->bias && args[op->bias].tag == KW_TAG_TENSOR) out_tensors[BIAS] = args[op->bias].u.tensor;
  if (kind == NORM_GIVEN) {
    out_tensors[MEAN] = args[op->given].u.tensor;
    out_tensors[RSTD] = args[op->given + 1].u.tensor;
  } else if (kind == NORM_CENTRED) {
    out_tensors[MEAN] = call->outs[1];
    out_tensors[RSTD] = call->outs[2];
  } else if (call->out_count > 1) {
    out_tensors[RSTD] = call->outs[1];
  }
  if (op->training && kind == NORM_CENTRED) {
    out_tensors[RUNNING_MEAN] = args[op->given].u.tensor;
    out_tensors[RUNNING_VARIANCE] = args[op->given + 1].u.tensor;
  }
}

kw_norm_layout kw_norm_layout_of(kw_norm_rows rows, uint32_t rank, const kw_value *detail) {
  const uint32_t last = rows == KW_NORM_LAST_DIMS ? (1u << (rank - detail->count)) - 1 : 0;
  switch (rows) {
    case KW_NORM_LAST_DIMS:
      return (kw_norm_layout){.outer = last, .weights = ~last & ((1u << rank) - 1)};
    case KW_NORM_EACH_CHANNEL:
      return (kw_norm_layout){.outer = 2, .weights = 2};
    default:
      return (kw_norm_layout){.outer = 3, .weights = 6, .groups = detail->u.i};
  }
}

kw_tensor_ref kw_norm_view(const kw_norm_layout *layout, const kw_tensor_ref *tensor) {
  return layout->groups ? kw_dims_split(tensor, 1, layout->groups) : *tensor;
}

kw_tensor_ref kw_norm_weights(const kw_norm_layout *layout, const kw_tensor_ref *weights, const kw_tensor_ref *view) {
  const kw_tensor_ref own = layout->groups ? kw_dims_split(weights, 0, layout->groups) : *weights;
  return kw_dims_spread(own, view, layout->weights);
}

kw_tensor_ref kw_norm_numbers(const kw_norm_layout *layout, const kw_tensor_ref *numbers, const kw_tensor_ref *view) {
  const bool has_rows_only = numbers->rank == (uint32_t)__builtin_popcount(layout->outer);
  return kw_dims_spread(has_rows_only ? *numbers : kw_dims_keep(numbers, layout->outer), view, layout->outer);
}

static kw_status plan_norm(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const norm_op *op = kernel->family;
  const kw_tensor_ref *tensors[NORM_OPERANDS], *in = call->args[0].u.tensor;
  norm_plan *plan = out_plan;
  plan->kind = op->training && !call->args[op->training].u.b ? NORM_GIVEN : op->kind;
  plan->lane = kw_lane_of(in->dtype);
  norm_tensors(op, plan->kind, call, tensors);
  if (op->rows == KW_NORM_EACH_GROUP && in->rank == KW_MAX_RANK) return KW_ERR_NOT_IMPLEMENTED;
  const kw_norm_layout layout = kw_norm_layout_of(op->rows, in->rank, &call->args[op->detail]);
  const kw_tensor_ref out_view = kw_norm_view(&layout, tensors[OUT]);
  kw_rows_begin(&plan->rows, &out_view, layout.outer);
  for (uint32_t k = OUT; k < NORM_OPERANDS; k++) {
    plan->has[k] = tensors[k] != NULL;
    if (!tensors[k]) {
      kw_loop_add_constant(&plan->rows.outer);
      kw_loop_add_constant(&plan->rows.inner);
      continue;
    }
    if (!kw_port_open(&plan->ports[k], tensors[k]->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
    if (k == OUT) continue;
    const kw_tensor_ref view = k == IN                    ? kw_norm_view(&layout, in)
                               : k == WEIGHT || k == BIAS ? kw_norm_weights(&layout, tensors[k], &out_view)
                                                          : kw_norm_numbers(&layout, tensors[k], &out_view);
    kw_rows_add(&plan->rows, &view);
  }
  kw_rows_make(&plan->rows);
  const kw_tensor_ref row = kw_norm_view(&layout, in), elements = kw_dims_keep(&row, ~layout.outer);
  kw_loop_begin(&plan->measured, &elements);
  kw_loop_make(&plan->measured);
  return plan->rows.inner.numel == 0 ? KW_ERR_NOT_IMPLEMENTED : KW_OK;
}

/* A row, and lanes for a block of it. */
typedef struct norm_row {
  const norm_plan *plan;
  const kw_row_lanes *of;
  const kw_fold *sum;
  kw_total total;
  _Alignas(16) char mean[KW_LANE_BYTES], variance[KW_LANE_BYTES], rstd[KW_LANE_BYTES];
  _Alignas(64) char x[KW_LANE_BLOCK * KW_LANE_BYTES], y[KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char weight[KW_LANE_BLOCK * KW_LANE_BYTES], bias[KW_LANE_BLOCK * KW_LANE_BYTES];
} norm_row;

/* Lanes of the input. */
static const void *norm_lanes(norm_row *row, const char *at, int64_t step, int64_t i, int64_t count) {
  return kw_port_lanes(&row->plan->ports[IN], at + i * step, step, count, row->x);
}

static void sum_run(void *context, char *const *at, const int64_t *step, int64_t n) {
  norm_row *row = context;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    row->sum->fold(&row->total, norm_lanes(row, at[0], step[0], i, kw_block_at(i, n)), kw_block_at(i, n));
  }
}

static void square_run(void *context, char *const *at, const int64_t *step, int64_t n) {
  norm_row *row = context;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    row->of->add_squares(&row->total, norm_lanes(row, at[0], step[0], i, count), row->mean, count);
  }
}

/* The lanes of a weight for a block: its own, one that the whole run shares, or what stands for none. */
static const void *weight_lanes(norm_row *row, uint32_t which, char *const *at, const int64_t *step, int64_t i,
                                int64_t count) {
  void *lanes = which == WEIGHT ? row->weight : row->bias;
  if (!row->plan->has[which] || step[which] == 0) return lanes;
  return kw_port_lanes(&row->plan->ports[which], at[which] + i * step[which], step[which], count, lanes);
}

static void normalise_run(void *context, char *const *at, const int64_t *step, int64_t n) {
  norm_row *row = context;
  const norm_plan *plan = row->plan;
  const kw_port *out = &plan->ports[OUT];
  const bool stays = kw_port_is_lanes(out, step[OUT]), alike = step[WEIGHT] == 0 && step[BIAS] == 0;
  for (uint32_t k = WEIGHT; k <= BIAS; k++) {
    _Alignas(8) char lane[KW_LANE_BYTES];
    if (!plan->has[k] || step[k] != 0) continue;
    kw_port_read(&plan->ports[k], lane, at[k], 0, 1);
    kw_lanes_fill(k == WEIGHT ? row->weight : row->bias, lane, plan->lane, alike ? 1 : kw_block_at(0, n));
  }
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    char *to = at[OUT] + i * step[OUT];
    (alike ? row->of->normalise_alike : row->of->normalise)(
        stays ? to : row->y, norm_lanes(row, at[IN], step[IN], i, count), row->mean, row->rstd,
        weight_lanes(row, WEIGHT, at, step, i, count), weight_lanes(row, BIAS, at, step, i, count), count);
    if (!stays) kw_port_write(out, to, step[OUT], row->y, count);
  }
}

static void measure_row(norm_row *row, char *in) {
  const kw_loop *measured = &row->plan->measured;
  row->sum->start(&row->total);
  if (row->plan->kind == NORM_CENTRED) kw_loop_run(measured, &in, 0, measured->numel, sum_run, row);
  row->sum->finish(row->mean, &row->total, measured->numel);
  row->sum->start(&row->total);
  kw_loop_run(measured, &in, 0, measured->numel, square_run, row);
  row->sum->finish(row->variance, &row->total, measured->numel);
}

/* What a step of training makes of running statistics; the variance without bias. */
static void update_running(norm_row *row, const norm_run *run, char *const *at) {
  const double n = (double)row->plan->rows.inner.numel;
  for (uint32_t k = RUNNING_MEAN; k <= RUNNING_VARIANCE; k++) {
    const kw_port *p = &row->plan->ports[k];
    const bool is_mean = k == RUNNING_MEAN;
    _Alignas(8) char lane[KW_LANE_BYTES];
    kw_port_read(p, lane, at[k], 0, 1);
    row->of->blend(lane, lane, is_mean ? row->mean : row->variance, run->momentum, is_mean ? 1 : n / (n - 1), 1);
    kw_port_write(p, at[k], 0, lane, 1);
  }
}

static void run_norm_rows(void *user, int64_t begin, int64_t end) {
  const norm_run *run = user;
  const norm_plan *plan = run->plan;
  const kw_loop *inner = &plan->rows.inner;
  norm_row row;
  memset(&row, 0, offsetof(norm_row, x)); /* a mean that is not measured is 0 */
  row.plan = plan;
  row.of = &kw_fast_isa()->rows[plan->lane];
  row.sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  if (!plan->has[WEIGHT]) kw_lanes_fill_number(row.weight, 1, plan->lane, kw_block_at(0, inner->numel));
  /* x + -0.0 is x, a zero's sign included */
  if (!plan->has[BIAS]) kw_lanes_fill_number(row.bias, -0.0, plan->lane, kw_block_at(0, inner->numel));
  for (int64_t i = begin; i < end; i++) {
    char *at[NORM_OPERANDS];
    kw_loop_find(&plan->rows.outer, run->base, i, at);
    if (plan->kind == NORM_GIVEN) {
      kw_port_read(&plan->ports[MEAN], row.mean, at[MEAN], 0, 1);
      kw_port_read(&plan->ports[RSTD], row.variance, at[RSTD], 0, 1);
    } else {
      measure_row(&row, at[IN]);
    }
    row.of->rstd(row.rstd, row.variance, run->eps, 1);
    if (plan->kind != NORM_GIVEN && plan->has[MEAN]) kw_port_write(&plan->ports[MEAN], at[MEAN], 0, row.mean, 1);
    if (plan->kind != NORM_GIVEN && plan->has[RSTD]) kw_port_write(&plan->ports[RSTD], at[RSTD], 0, row.rstd, 1);
    kw_loop_run(inner, at, 0, inner->numel, normalise_run, &row);
    if (plan->has[RUNNING_MEAN]) update_running(&row, run, at);
  }
}

double kw_norm_number(const kw_value *value, double otherwise) {
  if (value->tag == KW_TAG_NONE) return otherwise;
  const kw_element element = kw_operand_scalar(value);
  return kw_number_load(element.dtype, element.bytes);
}

static kw_status run_norm(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const norm_plan *plan = the_plan;
  const norm_op *op = ((const kw_fast_kernel *)call->user)->family;
  const kw_tensor_ref *tensors[NORM_OPERANDS];
  norm_run run = {.plan = plan};
  run.eps = kw_norm_number(&call->args[op->eps], plan->lane == KW_LANE_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
  if (op->momentum) run.momentum = kw_norm_number(&call->args[op->momentum], 0);
  norm_tensors(op, plan->kind, call, tensors);
  for (uint32_t k = 0; k < NORM_OPERANDS; k++) {
    if (tensors[k]) run.base[k] = kw_walk_base(tensors[k]);
  }
  return host->parallel_for(host->ctx, plan->rows.outer.numel, kw_rows_grain(&plan->rows), run_norm_rows, &run);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define NORM(name, ...)                                                                                             \
  {                                                                                                                 \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(norm_plan), .family = &(const norm_op){__VA_ARGS__}, \
    .make_plan = plan_norm, .run = run_norm                                                                         \
  }

static const kw_fast_kernel kernels[] = {
    NORM("native_layer_norm", NORM_CENTRED, KW_NORM_LAST_DIMS, .detail = 1, .weight = 2, .bias = 3, .eps = 4),
    NORM("rms_norm", NORM_SQUARES, KW_NORM_LAST_DIMS, .detail = 1, .weight = 2, .eps = 3),
    NORM("_fused_rms_norm", NORM_SQUARES, KW_NORM_LAST_DIMS, .detail = 1, .weight = 2, .eps = 3),
    NORM("native_group_norm", NORM_CENTRED, KW_NORM_EACH_GROUP, .weight = 1, .bias = 2, .detail = 6, .eps = 7),
    NORM("_native_batch_norm_legit", NORM_CENTRED, KW_NORM_EACH_CHANNEL, .weight = 1, .bias = 2, .given = 3,
         .training = 5, .momentum = 6, .eps = 7),
    NORM("_native_batch_norm_legit.no_stats", NORM_CENTRED, KW_NORM_EACH_CHANNEL, .weight = 1, .bias = 2, .eps = 5),
    NORM("_native_batch_norm_legit_no_training", NORM_GIVEN, KW_NORM_EACH_CHANNEL, .weight = 1, .bias = 2, .given = 3,
         .eps = 6),
};

kw_fast_family kw_fast_norms(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

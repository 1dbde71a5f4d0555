/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, its logarithm, the backwards of both, and logsumexp: rows, each of which is walked two or three times while
 * it is near.
 */
#include "rows.h"

#include "dims.h"
#include "walk.h"

#include <math.h>

/* ---- Rows of either ---------------------------------------------------------------------------------------------- */

typedef struct softmax_op {
  bool is_log;       /* powers are added up, and not kept */
  uint32_t operands; /* the first arguments; behind them stands the dimension */
} softmax_op;

#define OPERANDS 3 /* with the result, which is number 0 */

typedef struct softmax_plan {
  kw_rows rows;
  kw_port ports[OPERANDS];
  kw_lane lane;
  bool is_log;
} softmax_plan;
_Static_assert(sizeof(softmax_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

typedef struct softmax_run {
  const softmax_plan *plan;
  char *base[OPERANDS];
} softmax_run;

/* Rows along the dimensions in `along` of `like`, whose shape `out` has, too. */
static kw_status plan_rows(const softmax_op *op, const kw_call *call, const kw_tensor_ref *out, uint32_t along,
                           softmax_plan *plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor;
  plan->is_log = op->is_log;
  plan->lane = kw_lane_of(out->dtype);
  kw_rows_begin(&plan->rows, out, ((1u << in->rank) - 1) & ~along);
  if (!kw_port_open(&plan->ports[0], out->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t k = 0; k < op->operands; k++) {
    const kw_tensor_ref *operand = call->args[k].u.tensor;
    if (!kw_port_open(&plan->ports[k + 1], operand->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
    kw_rows_add(&plan->rows, operand);
  }
  kw_rows_make(&plan->rows);
  return KW_OK;
}

static kw_status plan_softmax(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const softmax_op *op = kernel->family;
  const uint32_t rank = call->args[0].u.tensor->rank;
  const uint32_t along = rank > 0 ? kw_dims_named(&call->args[op->operands], rank) : 0;
  return plan_rows(op, call, call->outs[0], along, plan);
}

/* The result repeats along a row. */
static kw_status plan_logsumexp(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const uint32_t along = kw_dims_named(&call->args[1], in->rank), others = ((1u << in->rank) - 1) & ~along;
  const kw_tensor_ref spread = kw_dims_spread(out->rank == in->rank ? kw_dims_keep(out, others) : *out, in, others);
  softmax_plan *plan = out_plan;
  const kw_status status = plan_rows(kernel->family, call, &spread, along, plan);
  return status == KW_OK && plan->rows.inner.rank > 1 ? KW_ERR_NOT_IMPLEMENTED : status;
}

/* Runs `rows` for all rows. */
static kw_status share_rows(const kw_host_api *host, const kw_call *call, const softmax_plan *plan, kw_range_fn rows) {
  softmax_run run = {plan, {kw_walk_base(call->outs[0])}};
  for (uint32_t k = 1; k < plan->rows.outer.operands; k++) run.base[k] = kw_walk_base(call->args[k - 1].u.tensor);
  return host->parallel_for(host->ctx, plan->rows.outer.numel, kw_rows_grain(&plan->rows), rows, &run);
}

/* A row, and lanes for a block of each operand. */
typedef struct softmax_row {
  const softmax_plan *plan;
  char *at[OPERANDS];
  _Alignas(16) char top[KW_LANE_BYTES], sum[KW_LANE_BYTES];
  _Alignas(64) char lanes[OPERANDS][KW_LANE_BLOCK * KW_LANE_BYTES];
} softmax_row;

static const void *lanes_of(softmax_row *row, uint32_t operand, int64_t i, int64_t count) {
  const int64_t step = row->plan->rows.inner.step[operand][0];
  return kw_port_lanes(&row->plan->ports[operand], row->at[operand] + i * step, step, count, row->lanes[operand]);
}

/* Where lanes of the result are made: where they stay, if they can. */
static bool result_stays(const softmax_plan *plan) {
  return kw_port_is_lanes(&plan->ports[0], plan->rows.inner.step[0][0]);
}

static void *result_place(softmax_row *row, int64_t i) {
  return result_stays(row->plan) ? row->at[0] + i * row->plan->ports[0].size : row->lanes[0];
}

/* Writes a block of the result that was made at `lanes`. */
static void write_result(const softmax_row *row, int64_t i, const void *lanes, int64_t count) {
  const int64_t step = row->plan->rows.inner.step[0][0];
  if (!result_stays(row->plan)) kw_port_write(&row->plan->ports[0], row->at[0] + i * step, step, lanes, count);
}

/* ---- Forward ----------------------------------------------------------------------------------------------------- */

static void sum_powers(softmax_row *row, const kw_fold *fold, const kw_row_lanes *of, int64_t n) {
  kw_total total;
  fold->start(&total);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    void *powers = row->plan->is_log ? row->lanes[0] : result_place(row, i);
    of->exp_below(powers, lanes_of(row, 1, i, count), row->top, count);
    fold->fold(&total, powers, count);
  }
  fold->finish(row->sum, &total, 1);
}

/* The largest lane, and the sum of the powers. */
static void measure_row(softmax_row *row) {
  const softmax_plan *plan = row->plan;
  const kw_isa *isa = kw_fast_isa();
  const kw_fold *max = &isa->folds[KW_FOLD_MAX][plan->lane];
  const int64_t n = plan->rows.inner.numel;
  kw_total top;
  max->start(&top);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    max->fold(&top, lanes_of(row, 1, i, count), count);
  }
  max->finish(row->top, &top, 1);
  sum_powers(row, &isa->folds[KW_FOLD_SUM][plan->lane], &isa->rows[plan->lane], n);
}

/* Each lane's share, after what measures the row. */
static void run_softmax_row(softmax_row *row) {
  const softmax_plan *plan = row->plan;
  const kw_row_lanes *of = &kw_fast_isa()->rows[plan->lane];
  const int64_t n = plan->rows.inner.numel;
  measure_row(row);
  const bool again = !result_stays(plan) && n > KW_LANE_BLOCK; /* the powers of the last block alone are still there */
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    void *to = result_place(row, i);
    if (plan->is_log) {
      of->log_share(to, lanes_of(row, 1, i, count), row->top, row->sum, count);
    } else {
      if (again) of->exp_below(to, lanes_of(row, 1, i, count), row->top, count);
      of->divide(to, to, row->sum, count);
    }
    write_result(row, i, to, count);
  }
}

static void run_softmax_rows(void *user, int64_t begin, int64_t end) {
  const softmax_run *run = user;
  softmax_row row;
  row.plan = run->plan;
  for (int64_t i = begin; i < end; i++) {
    kw_loop_find(&run->plan->rows.outer, run->base, i, row.at);
    run_softmax_row(&row);
  }
}

static kw_status run_softmax(const kw_host_api *host, const kw_call *call, const void *plan) {
  return share_rows(host, call, plan, run_softmax_rows);
}

/* Where the largest is not finite it is the result. */
static void run_logsumexp_row(softmax_row *row) {
  const softmax_plan *plan = row->plan;
  measure_row(row);
  const bool narrow = plan->lane == KW_LANE_F32;
  const double top = narrow ? *(float *)(void *)row->top : *(double *)(void *)row->top;
  const double sum = narrow ? *(float *)(void *)row->sum : *(double *)(void *)row->sum;
  kw_lanes_fill_number(row->lanes[0], isfinite(top) ? top + log(sum) : top, plan->lane, 1);
  kw_port_write(&plan->ports[0], row->at[0], 0, row->lanes[0], 1);
}

static void run_logsumexp_rows(void *user, int64_t begin, int64_t end) {
  const softmax_run *run = user;
  softmax_row row;
  row.plan = run->plan;
  for (int64_t i = begin; i < end; i++) {
    kw_loop_find(&run->plan->rows.outer, run->base, i, row.at);
    run_logsumexp_row(&row);
  }
}

static kw_status run_logsumexp(const kw_host_api *host, const kw_call *call, const void *plan) {
  return share_rows(host, call, plan, run_logsumexp_rows);
}

/* ---- Backward: operand 1 is the gradient, operand 2 the forward's result -------------------------------------------
 */

static void run_slope_row(softmax_row *row) {
  const softmax_plan *plan = row->plan;
  const kw_row_lanes *of = &kw_fast_isa()->rows[plan->lane];
  const kw_fold *fold = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  const int64_t n = plan->rows.inner.numel;
  kw_total total;
  fold->start(&total);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const void *grad = lanes_of(row, 1, i, count);
    if (plan->is_log) {
      fold->fold(&total, grad, count);
    } else {
      of->add_products(&total, grad, lanes_of(row, 2, i, count), count);
    }
  }
  fold->finish(row->sum, &total, 1);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const void *grad = lanes_of(row, 1, i, count), *value = lanes_of(row, 2, i, count);
    void *to = result_place(row, i);
    if (plan->is_log) {
      of->log_share_slope(to, grad, value, row->sum, count);
    } else {
      of->share_slope(to, grad, value, row->sum, count);
    }
    write_result(row, i, to, count);
  }
}

static void run_slope_rows(void *user, int64_t begin, int64_t end) {
  const softmax_run *run = user;
  softmax_row row;
  row.plan = run->plan;
  for (int64_t i = begin; i < end; i++) {
    kw_loop_find(&run->plan->rows.outer, run->base, i, row.at);
    run_slope_row(&row);
  }
}

static kw_status run_slope(const kw_host_api *host, const kw_call *call, const void *plan) {
  return share_rows(host, call, plan, run_slope_rows);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define SOFTMAX(name, keys, log, operands, planner, how)                                        \
  {                                                                                             \
    .op = name, .dtypes = KW_DTYPES_##keys, .plan_size = sizeof(softmax_plan),                  \
    .family = &(const softmax_op){log, operands}, .make_plan = plan_##planner, .run = run_##how \
  }

static const kw_fast_kernel kernels[] = {
    SOFTMAX("_softmax", FLOAT, false, 1, softmax, softmax),
    SOFTMAX("_log_softmax", FLOAT, true, 1, softmax, softmax),
    SOFTMAX("_softmax_backward_data", FLOAT, false, 2, softmax, slope),
    SOFTMAX("_log_softmax_backward_data", FLOAT, true, 2, softmax, slope),
    SOFTMAX("logsumexp", REAL, true, 1, logsumexp, logsumexp),
};

kw_fast_family kw_fast_softmax(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

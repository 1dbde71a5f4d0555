/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, its logarithm, and the backwards of both: rows, each of which is walked two or three times while it is near.
 */
#include "rows.h"

#include "dims.h"
#include "walk.h"

/* ---- Rows of either ---------------------------------------------------------------------------------------------- */

typedef struct softmax_op {
  bool is_log;
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

static kw_status plan_softmax(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const softmax_op *op = kernel->family;
  const kw_tensor_ref *out = call->outs[0], *in = call->args[0].u.tensor;
  softmax_plan *plan = out_plan;
  plan->is_log = op->is_log;
  plan->lane = kw_lane_of(in->dtype);
  const uint32_t along = in->rank > 0 ? kw_dims_named(&call->args[op->operands], in->rank) : 0;
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

/* The largest lane, the sum of the powers, and then each one's share. */
static void run_softmax_row(softmax_row *row) {
  const softmax_plan *plan = row->plan;
  const kw_isa *isa = kw_fast_isa();
  const kw_row_lanes *of = &isa->rows[plan->lane];
  const kw_fold *max = &isa->folds[KW_FOLD_MAX][plan->lane];
  const int64_t n = plan->rows.inner.numel;
  kw_total top;
  max->start(&top);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    max->fold(&top, lanes_of(row, 1, i, count), count);
  }
  max->finish(row->top, &top, 1);
  sum_powers(row, &isa->folds[KW_FOLD_SUM][plan->lane], of, n);
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
  softmax_row row = {.plan = run->plan};
  for (int64_t i = begin; i < end; i++) {
    kw_loop_find(&run->plan->rows.outer, run->base, i, row.at);
    run_softmax_row(&row);
  }
}

static kw_status run_softmax(const kw_host_api *host, const kw_call *call, const void *plan) {
  return share_rows(host, call, plan, run_softmax_rows);
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
  softmax_row row = {.plan = run->plan};
  for (int64_t i = begin; i < end; i++) {
    kw_loop_find(&run->plan->rows.outer, run->base, i, row.at);
    run_slope_row(&row);
  }
}

static kw_status run_slope(const kw_host_api *host, const kw_call *call, const void *plan) {
  return share_rows(host, call, plan, run_slope_rows);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define SOFTMAX(name, log, operands, how)                                                     \
  {                                                                                           \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(softmax_plan),                 \
    .family = &(const softmax_op){log, operands}, .make_plan = plan_softmax, .run = run_##how \
  }

static const kw_fast_kernel kernels[] = {
    SOFTMAX("_softmax", false, 1, softmax),
    SOFTMAX("_log_softmax", true, 1, softmax),
    SOFTMAX("_softmax_backward_data", false, 2, slope),
    SOFTMAX("_log_softmax_backward_data", true, 2, slope),
};

kw_fast_family kw_fast_softmax(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

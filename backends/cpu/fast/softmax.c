/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, its logarithm, and the backwards of both: rows, each of which is walked two or three times while it is near.
 */
#include "rows.h"

#include "dims.h"
#include "walk.h"

/* ---- Softmax ----------------------------------------------------------------------------------------------------- */

typedef struct softmax_op {
  bool is_log;
} softmax_op;

typedef struct softmax_plan {
  kw_rows rows; /* operands: result, input */
  kw_port in, out;
  kw_lane lane;
  bool is_log;
} softmax_plan;

typedef struct slope_plan {
  kw_rows rows;
  kw_port ports[3];
  kw_lane lane;
  bool is_log;
} slope_plan;
_Static_assert(sizeof(slope_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");
_Static_assert(sizeof(softmax_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

typedef struct softmax_run {
  const softmax_plan *plan;
  char *base[2];
} softmax_run;

static kw_status plan_softmax(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  softmax_plan *plan = out_plan;
  plan->is_log = ((const softmax_op *)kernel->family)->is_log;
  plan->lane = kw_lane_of(in->dtype);
  if (!kw_port_open(&plan->in, in->dtype, plan->lane) || !kw_port_open(&plan->out, out->dtype, plan->lane)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  const uint32_t along = in->rank > 0 ? kw_dims_named(&call->args[1], in->rank) : 0;
  kw_rows_begin(&plan->rows, out, ((1u << in->rank) - 1) & ~along);
  kw_rows_add(&plan->rows, in);
  kw_rows_make(&plan->rows);
  return KW_OK;
}

/* A row in blocks of lanes. */
typedef struct softmax_row {
  const softmax_plan *plan;
  char *out;
  const char *in;
  _Alignas(16) char top[KW_LANE_BYTES], sum[KW_LANE_BYTES];
  _Alignas(64) char x[KW_LANE_BLOCK * KW_LANE_BYTES], y[KW_LANE_BLOCK * KW_LANE_BYTES];
} softmax_row;

static const void *softmax_lanes(softmax_row *row, int64_t i, int64_t count) {
  const int64_t step = row->plan->rows.inner.step[1][0];
  return kw_port_lanes(&row->plan->in, row->in + i * step, step, count, row->x);
}

/* Where lanes of the result are made: where they stay, if they can. */
static bool softmax_stays(const softmax_plan *plan) {
  return kw_port_is_lanes(&plan->out, plan->rows.inner.step[0][0]);
}

static void *softmax_place(softmax_row *row, int64_t i) {
  return softmax_stays(row->plan) ? row->out + i * row->plan->out.size : row->y;
}

static void softmax_sum(softmax_row *row, const kw_fold *fold, const kw_row_lanes *of, int64_t n) {
  kw_total total;
  fold->start(&total);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    void *powers = row->plan->is_log ? row->y : softmax_place(row, i);
    of->exp_below(powers, softmax_lanes(row, i, count), row->top, count);
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
  const int64_t n = plan->rows.inner.numel, out_step = plan->rows.inner.step[0][0];
  kw_total top;
  max->start(&top);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    max->fold(&top, softmax_lanes(row, i, count), count);
  }
  max->finish(row->top, &top, 1);
  softmax_sum(row, &isa->folds[KW_FOLD_SUM][plan->lane], of, n);
  const bool stays = softmax_stays(plan), again = !stays && n > KW_LANE_BLOCK;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    void *to = softmax_place(row, i);
    if (plan->is_log) {
      of->log_share(to, softmax_lanes(row, i, count), row->top, row->sum, count);
    } else {
      if (again) of->exp_below(to, softmax_lanes(row, i, count), row->top, count);
      of->divide(to, to, row->sum, count);
    }
    if (!stays) kw_port_write(&plan->out, row->out + i * out_step, out_step, to, count);
  }
}

static void run_softmax_rows(void *user, int64_t begin, int64_t end) {
  const softmax_run *run = user;
  softmax_row row = {.plan = run->plan};
  for (int64_t i = begin; i < end; i++) {
    char *at[2];
    kw_rows_find(&run->plan->rows, i, run->base, at);
    row.out = at[0];
    row.in = at[1];
    run_softmax_row(&row);
  }
}

static kw_status run_softmax(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const softmax_plan *plan = the_plan;
  softmax_run run = {plan, {kw_walk_base(call->outs[0]), kw_walk_base(call->args[0].u.tensor)}};
  return host->parallel_for(host->ctx, plan->rows.outer.numel, kw_rows_grain(&plan->rows), run_softmax_rows, &run);
}

/* ---- Backward ---------------------------------------------------------------------------------------------------- */

/* The plan's rows have the operands result, gradient and the forward's result. */
typedef struct slope_run {
  const slope_plan *plan;
  char *base[3];
} slope_run;

static kw_status plan_slope(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *grad = call->args[0].u.tensor, *value = call->args[1].u.tensor, *out = call->outs[0];
  const kw_tensor_ref *tensors[] = {out, grad, value};
  slope_plan *plan = out_plan;
  plan->is_log = ((const softmax_op *)kernel->family)->is_log;
  plan->lane = kw_lane_of(grad->dtype);
  for (uint32_t k = 0; k < 3; k++) {
    if (!kw_port_open(&plan->ports[k], tensors[k]->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
  }
  const uint32_t along = grad->rank > 0 ? kw_dims_named(&call->args[2], grad->rank) : 0;
  kw_rows_begin(&plan->rows, out, ((1u << grad->rank) - 1) & ~along);
  kw_rows_add(&plan->rows, grad);
  kw_rows_add(&plan->rows, value);
  kw_rows_make(&plan->rows);
  return KW_OK;
}

/* A row, and lanes for a block of it. */
typedef struct slope_row {
  const slope_plan *plan;
  char *at[3];
  _Alignas(16) char sum[KW_LANE_BYTES];
  _Alignas(64) char lanes[3][KW_LANE_BLOCK * KW_LANE_BYTES];
} slope_row;

static const void *slope_lanes(slope_row *row, uint32_t operand, int64_t i, int64_t count) {
  const int64_t step = row->plan->rows.inner.step[operand][0];
  return kw_port_lanes(&row->plan->ports[operand], row->at[operand] + i * step, step, count, row->lanes[operand]);
}

static void run_slope_row(slope_row *row) {
  const slope_plan *plan = row->plan;
  const kw_row_lanes *of = &kw_fast_isa()->rows[plan->lane];
  const kw_fold *fold = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  const int64_t n = plan->rows.inner.numel, step = plan->rows.inner.step[0][0];
  const bool stays = kw_port_is_lanes(&plan->ports[0], step);
  kw_total total;
  fold->start(&total);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const void *grad = slope_lanes(row, 1, i, count);
    if (plan->is_log) {
      fold->fold(&total, grad, count);
    } else {
      of->add_products(&total, grad, slope_lanes(row, 2, i, count), count);
    }
  }
  fold->finish(row->sum, &total, 1);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    void *to = stays ? row->at[0] + i * step : row->lanes[0];
    (plan->is_log ? of->log_share_slope : of->share_slope)(to, slope_lanes(row, 1, i, count),
                                                           slope_lanes(row, 2, i, count), row->sum, count);
    if (!stays) kw_port_write(&plan->ports[0], row->at[0] + i * step, step, to, count);
  }
}

static void run_slope_rows(void *user, int64_t begin, int64_t end) {
  const slope_run *run = user;
  slope_row row = {.plan = run->plan};
  for (int64_t i = begin; i < end; i++) {
    kw_rows_find(&run->plan->rows, i, run->base, row.at);
    run_slope_row(&row);
  }
}

static kw_status run_slope(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const slope_plan *plan = the_plan;
  slope_run run = {
      plan, {kw_walk_base(call->outs[0]), kw_walk_base(call->args[0].u.tensor), kw_walk_base(call->args[1].u.tensor)}};
  return host->parallel_for(host->ctx, plan->rows.outer.numel, kw_rows_grain(&plan->rows), run_slope_rows, &run);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define SOFTMAX(name, log, kind)                                                                                 \
  {                                                                                                              \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(kind##_plan), .family = &(const softmax_op){log}, \
    .make_plan = plan_##kind, .run = run_##kind                                                                  \
  }

static const kw_fast_kernel kernels[] = {
    SOFTMAX("_softmax", false, softmax),
    SOFTMAX("_log_softmax", true, softmax),
    SOFTMAX("_softmax_backward_data", false, slope),
    SOFTMAX("_log_softmax_backward_data", true, slope),
};

kw_fast_family kw_fast_softmax(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

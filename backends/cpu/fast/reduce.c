/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions to sums, means and extremes: along rows where the elements that are reduced lie side by side, by columns
 * where the results do.
 */
#include "cut.h"
#include "fast.h"

#include "dims.h"
#include "loop.h"
#include "number.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct reduce_op {
  kw_fold_fn fold;
  bool divides;
  int dim; /* which argument names the dimensions; -1: all are reduced */
} reduce_op;

typedef struct reduce_plan {
  kw_loop kept;   /* operand 0 is the result, 1 the first of the elements that it is made of */
  kw_loop folded; /* of one result; operand 0 steps from the first element */
  const kw_fold *folds;
  kw_port in, out;
  int64_t lane_size; /* bytes */
  bool by_columns;
  int64_t divisor;
  kw_cut cut;
} reduce_plan;
_Static_assert(sizeof(reduce_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static kw_status plan_reduce(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const reduce_op *op = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  reduce_plan *plan = out_plan;
  const uint32_t all = (1u << in->rank) - 1;
  const uint32_t folded = op->dim < 0 ? all : kw_dims_named(&call->args[op->dim], in->rank), kept = all & ~folded;
  const kw_tensor_ref results = out->rank == in->rank ? kw_dims_keep(out, kept) : *out;
  const kw_tensor_ref firsts = kw_dims_keep(in, kept), row = kw_dims_keep(in, folded);
  kw_loop_begin(&plan->kept, &results);
  kw_loop_add(&plan->kept, &firsts);
  kw_loop_make(&plan->kept);
  kw_loop_begin(&plan->folded, &row);
  kw_loop_make(&plan->folded);
  if (plan->folded.numel == 0 || plan->kept.numel == 0) return KW_ERR_NOT_IMPLEMENTED;

  const kw_lane lane = kw_lane_of(out->dtype);
  if (!kw_port_open(&plan->in, in->dtype, lane) || !kw_port_open(&plan->out, out->dtype, lane)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  plan->folds = &kw_fast_isa()->folds[op->fold][lane];
  plan->lane_size = kw_lane_size(lane);
  plan->divisor = op->divides ? plan->folded.numel : 1;
  const int64_t across = plan->kept.step[1][plan->kept.rank - 1], along = plan->folded.step[0][plan->folded.rank - 1];
  plan->by_columns = across == plan->in.size && along != plan->in.size;
  kw_cut_make(&plan->cut, plan->kept.numel, plan->by_columns ? plan->kept.shape[plan->kept.rank - 1] : 1,
              plan->folded.numel);
  return KW_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct reduce_run {
  const reduce_plan *plan;
  char *base[2];    /* of `kept` */
  kw_total *totals; /* of every piece of every result; NULL where there is one piece */
} reduce_run;

typedef struct along_row {
  const reduce_plan *plan;
  kw_total total;
  _Alignas(64) char lanes[KW_LANE_BLOCK * KW_LANE_BYTES];
} along_row;

static void fold_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  along_row *row = context;
  const reduce_plan *plan = row->plan;
  if (kw_port_is_lanes(&plan->in, step[0])) {
    plan->folds->fold(&row->total, at[0], n);
    return;
  }
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    kw_port_read(&plan->in, row->lanes, at[0] + i * step[0], step[0], kw_block_at(i, n));
    plan->folds->fold(&row->total, row->lanes, kw_block_at(i, n));
  }
}

typedef struct columns {
  const reduce_plan *plan;
  int64_t width;
  const char *rows[KW_FOLD_ROWS];
  uint32_t count; /* of the rows that wait */
  uint32_t calls; /* of `rows` since the totals took the sums */
  _Alignas(64) char into[KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char nothing[KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char lanes[KW_FOLD_ROWS][KW_CUT_COLUMNS * KW_LANE_BYTES];
  kw_total totals[KW_CUT_COLUMNS];
} columns;

static void clear_columns(columns *c) {
  memcpy(c->into, c->nothing, (size_t)(c->width * c->plan->lane_size));
  c->calls = 0;
}

static void flush_columns(columns *c) {
  c->plan->folds->take(c->totals, c->into, c->width);
  clear_columns(c);
}

static void fold_waiting(columns *c) {
  const void *rows[KW_FOLD_ROWS];
  for (uint32_t k = 0; k < KW_FOLD_ROWS; k++) {
    rows[k] = c->nothing;
    if (k >= c->count) continue;
    rows[k] = kw_port_lanes(&c->plan->in, c->rows[k], c->plan->in.size, c->width, c->lanes[k]);
  }
  c->plan->folds->rows(c->into, rows, c->width);
  c->count = 0;
  if (++c->calls == KW_FOLD_CALLS) flush_columns(c);
}

static void take_rows(void *context, char *const *at, const int64_t *step, int64_t n) {
  columns *c = context;
  for (int64_t i = 0; i < n; i++) {
    c->rows[c->count++] = at[0] + i * step[0];
    if (c->count == KW_FOLD_ROWS) fold_waiting(c);
  }
}

/* Makes `totals` of elements [begin, end) of `width` results. */
static void fold_columns(const reduce_plan *plan, char *in, int64_t width, int64_t begin, int64_t end, columns *c) {
  c->plan = plan;
  c->width = width;
  c->count = 0;
  plan->folds->start(&c->totals[0]);
  for (int64_t i = 1; i < width; i++) c->totals[i] = c->totals[0];
  plan->folds->finish_each(c->nothing, c->totals, 1, width);
  clear_columns(c);
  kw_loop_run(&plan->folded, &in, begin, end, take_rows, c);
  if (c->count > 0) fold_waiting(c);
  flush_columns(c);
}

static void store(const reduce_run *run, int64_t result, const kw_total *totals, int64_t width) {
  const reduce_plan *plan = run->plan;
  char lanes[KW_CUT_COLUMNS * KW_LANE_BYTES];
  char *at[2];
  kw_loop_find(&plan->kept, run->base, result, at);
  plan->folds->finish_each(lanes, totals, plan->divisor, width);
  kw_port_write(&plan->out, at[0], plan->kept.step[0][plan->kept.rank - 1], lanes, width);
}

static void run_tasks(void *user, int64_t begin, int64_t end) {
  const reduce_run *run = user;
  const reduce_plan *plan = run->plan;
  union {
    along_row row;
    columns columns;
  } state;
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&plan->cut, i);
    const kw_total *totals = state.columns.totals;
    char *at[2];
    kw_loop_find(&plan->kept, run->base, task.result, at);
    if (plan->by_columns) {
      fold_columns(plan, at[1], task.width, task.begin, task.end, &state.columns);
    } else {
      state.row.plan = plan;
      plan->folds->start(&state.row.total);
      kw_loop_run(&plan->folded, &at[1], task.begin, task.end, fold_row, &state.row);
      totals = &state.row.total;
    }
    if (run->totals) {
      for (int64_t k = 0; k < task.width; k++)
        run->totals[(task.result + k) * plan->cut.pieces + task.piece] = totals[k];
    } else {
      store(run, task.result, totals, task.width);
    }
  }
}

static kw_status run_reduce(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const reduce_plan *plan = the_plan;
  reduce_run run = {plan, {kw_walk_base(call->outs[0]), kw_walk_base(call->args[0].u.tensor)}, NULL};
  if (plan->cut.pieces > 1) {
    run.totals = malloc((size_t)(plan->kept.numel * plan->cut.pieces) * sizeof *run.totals);
    if (!run.totals) return KW_ERR_OUT_OF_MEMORY;
  }
  const kw_status status = host->parallel_for(host->ctx, plan->cut.tasks, plan->cut.grain, run_tasks, &run);
  for (int64_t result = 0; run.totals && status == KW_OK && result < plan->kept.numel; result++) {
    kw_total *pieces = run.totals + result * plan->cut.pieces;
    for (int64_t k = 1; k < plan->cut.pieces; k++) plan->folds->merge(&pieces[0], &pieces[k]);
    store(&run, result, pieces, 1);
  }
  free(run.totals);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define REDUCTION(name, keys, fold, divides, dim)                                                           \
  {                                                                                                         \
    .op = name, .dtypes = KW_DTYPES_##keys, .plan_size = sizeof(reduce_plan),                               \
    .family = &(const reduce_op){KW_FOLD_##fold, divides, dim}, .make_plan = plan_reduce, .run = run_reduce \
  }

static const kw_fast_kernel kernels[] = {
    REDUCTION("sum", REAL, SUM, false, -1),  REDUCTION("sum.dim_IntList", REAL, SUM, false, 1),
    REDUCTION("mean", FLOAT, SUM, true, -1), REDUCTION("mean.dim", FLOAT, SUM, true, 1),
    REDUCTION("amax", REAL, MAX, false, 1),  REDUCTION("amin", REAL, MIN, false, 1),
};

kw_fast_family kw_fast_reductions(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

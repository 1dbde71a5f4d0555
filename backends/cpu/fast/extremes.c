/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the largest and the smallest elements are: argmax, argmin, and max and min along a dimension, which give the
 * element, too. The first NaN wins, and of equal elements the first.
 */
#include "fast.h"
#include "reduction.h"

#include "dims.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct extreme_op {
  kw_fold_fn fold;
  uint32_t outs; /* 2: the elements, and their places behind them; 1: the places */
} extreme_op;

typedef struct extreme_plan {
  kw_reduction walk; /* in row-major order */
  const kw_fold *folds;
  kw_port in, value;
  int64_t lane_size; /* bytes */
  uint32_t outs;
} extreme_plan;
_Static_assert(sizeof(extreme_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

static kw_status plan_extreme(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const extreme_op *op = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *places = call->outs[op->outs - 1];
  extreme_plan *plan = out_plan;
  const uint32_t folded = kw_dims_named(&call->args[1], in->rank);
  if (places->dtype != KW_I64) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_reduction_plan(&plan->walk, call->outs, op->outs, in, folded, true)) return KW_ERR_NOT_IMPLEMENTED;
  const kw_lane lane = kw_lane_of(in->dtype);
  if (!kw_port_open(&plan->in, in->dtype, lane)) return KW_ERR_NOT_IMPLEMENTED;
  if (op->outs > 1 && !kw_port_open(&plan->value, call->outs[0]->dtype, lane)) return KW_ERR_NOT_IMPLEMENTED;
  plan->folds = &kw_fast_isa()->folds[op->fold][lane];
  plan->lane_size = kw_lane_size(lane);
  plan->outs = op->outs;
  /* By columns places are integers of the lanes' size. */
  if (plan->walk.by_columns && plan->walk.folded.numel > INT32_MAX) return KW_ERR_NOT_IMPLEMENTED;
  return KW_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct extreme_run {
  const extreme_plan *plan;
  char *base[3];  /* the results, what they are made of */
  kw_pick *picks; /* of every piece of every result; NULL where there is one piece */
} extreme_run;

typedef struct picked_row {
  const extreme_plan *plan;
  int64_t seen; /* the number of the next element */
  kw_pick pick;
  _Alignas(64) char lanes[KW_LANE_BLOCK * KW_LANE_BYTES];
} picked_row;

static void pick_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  picked_row *row = context;
  const kw_port *in = &row->plan->in;
  if (kw_port_is_lanes(in, step[0])) {
    row->plan->folds->pick(&row->pick, at[0], row->seen, n);
  } else {
    for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
      kw_port_read(in, row->lanes, at[0] + i * step[0], step[0], kw_block_at(i, n));
      row->plan->folds->pick(&row->pick, row->lanes, row->seen + i, kw_block_at(i, n));
    }
  }
  row->seen += n;
}

typedef struct picked_columns {
  const extreme_plan *plan;
  int64_t width;
  int64_t seen; /* the number of the next row */
  bool is_first;
  _Alignas(64) char best[KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char places[KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char lanes[KW_CUT_COLUMNS * KW_LANE_BYTES];
} picked_columns;

static void pick_columns(void *context, char *const *at, const int64_t *step, int64_t n) {
  picked_columns *c = context;
  const extreme_plan *plan = c->plan;
  for (int64_t i = 0; i < n; i++, c->seen++) {
    const void *row = kw_port_lanes(&plan->in, at[0] + i * step[0], plan->in.size, c->width, c->lanes);
    if (c->is_first) {
      memcpy(c->best, row, (size_t)(c->width * plan->lane_size));
      c->is_first = false;
    } else {
      plan->folds->pick_row(c->best, c->places, row, c->seen, c->width);
    }
  }
}

/* Fills `c` of elements [begin, end) of `width` results side by side. */
static void pick_strip(const extreme_plan *plan, char *in, const kw_cut_task *task, picked_columns *c) {
  c->plan = plan;
  c->width = task->width;
  c->seen = task->begin;
  c->is_first = true;
  if (plan->lane_size == sizeof(int64_t)) {
    for (int64_t i = 0; i < task->width; i++) ((int64_t *)(void *)c->places)[i] = task->begin;
  } else {
    for (int64_t i = 0; i < task->width; i++) ((int32_t *)(void *)c->places)[i] = (int32_t)task->begin;
  }
  kw_loop_run(&plan->walk.folded, &in, task->begin, task->end, pick_columns, c);
}

static int64_t place_of(const picked_columns *c, int64_t i) {
  if (c->plan->lane_size == sizeof(int64_t)) return ((const int64_t *)(const void *)c->places)[i];
  return ((const int32_t *)(const void *)c->places)[i];
}

static void store_strip(const extreme_run *run, int64_t result, const picked_columns *c) {
  const extreme_plan *plan = run->plan;
  const kw_loop *kept = &plan->walk.kept;
  const uint32_t last = kept->rank - 1;
  char *at[3];
  kw_loop_find(kept, run->base, result, at);
  char *places = at[plan->outs - 1];
  const int64_t step = kept->step[plan->outs - 1][last];
  for (int64_t i = 0; i < c->width; i++) *(int64_t *)(void *)(places + i * step) = place_of(c, i);
  if (plan->outs > 1) kw_port_write(&plan->value, at[0], kept->step[0][last], c->best, c->width);
}

/* Keeps them for when all pieces are there. */
static void keep_strip(const extreme_run *run, const kw_cut_task *task, const picked_columns *c) {
  for (int64_t i = 0; i < task->width; i++) {
    kw_pick *pick = &run->picks[(task->result + i) * run->plan->walk.cut.pieces + task->piece];
    memcpy(pick->lane, c->best + i * run->plan->lane_size, (size_t)run->plan->lane_size);
    pick->index = place_of(c, i);
  }
}

static void pick_elements(const extreme_plan *plan, char *in, int64_t begin, int64_t end, picked_row *row) {
  row->plan = plan;
  row->seen = begin;
  row->pick = (kw_pick){.index = -1};
  kw_loop_run(&plan->walk.folded, &in, begin, end, pick_row, row);
}

static void store(const extreme_run *run, int64_t result, const kw_pick *pick) {
  const extreme_plan *plan = run->plan;
  char *at[3];
  kw_loop_find(&plan->walk.kept, run->base, result, at);
  *(int64_t *)(void *)at[plan->outs - 1] = pick->index;
  if (plan->outs > 1) kw_port_write(&plan->value, at[0], 0, pick->lane, 1);
}

static void run_strips(void *user, int64_t begin, int64_t end) {
  const extreme_run *run = user;
  const extreme_plan *plan = run->plan;
  picked_columns columns;
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&plan->walk.cut, i);
    char *at[3];
    kw_loop_find(&plan->walk.kept, run->base, task.result, at);
    pick_strip(plan, at[plan->outs], &task, &columns);
    if (run->picks) {
      keep_strip(run, &task, &columns);
    } else {
      store_strip(run, task.result, &columns);
    }
  }
}

static void run_rows(void *user, int64_t begin, int64_t end) {
  const extreme_run *run = user;
  const extreme_plan *plan = run->plan;
  picked_row row;
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&plan->walk.cut, i);
    char *at[3];
    kw_loop_find(&plan->walk.kept, run->base, task.result, at);
    pick_elements(plan, at[plan->outs], task.begin, task.end, &row);
    if (run->picks) {
      run->picks[task.result * plan->walk.cut.pieces + task.piece] = row.pick;
    } else {
      store(run, task.result, &row.pick);
    }
  }
}

static kw_status run_extreme(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const extreme_plan *plan = the_plan;
  const kw_cut *cut = &plan->walk.cut;
  const int64_t results = plan->walk.kept.numel;
  extreme_run run = {.plan = plan};
  for (uint32_t k = 0; k < plan->outs; k++) run.base[k] = kw_walk_base(call->outs[k]);
  run.base[plan->outs] = kw_walk_base(call->args[0].u.tensor);
  if (cut->pieces > 1) {
    run.picks = malloc((size_t)(results * cut->pieces) * sizeof *run.picks);
    if (!run.picks) return KW_ERR_OUT_OF_MEMORY;
  }
  const kw_status status =
      host->parallel_for(host->ctx, cut->tasks, cut->grain, plan->walk.by_columns ? run_strips : run_rows, &run);
  for (int64_t result = 0; run.picks && status == KW_OK && result < results; result++) {
    kw_pick *pieces = run.picks + result * cut->pieces;
    for (int64_t k = 1; k < cut->pieces; k++) plan->folds->pick(&pieces[0], pieces[k].lane, pieces[k].index, 1);
    store(&run, result, pieces);
  }
  free(run.picks);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define EXTREME(name, keys, fold, outs)                                                                \
  {                                                                                                    \
    .op = name, .dtypes = KW_DTYPES_##keys, .plan_size = sizeof(extreme_plan),                         \
    .family = &(const extreme_op){KW_FOLD_##fold, outs}, .make_plan = plan_extreme, .run = run_extreme \
  }

static const kw_fast_kernel kernels[] = {
    EXTREME("argmax", NUM, MAX, 1),
    EXTREME("argmin", NUM, MIN, 1),
    EXTREME("max.dim", REAL, MAX, 2),
    EXTREME("min.dim", REAL, MIN, 2),
};

kw_fast_family kw_fast_extremes(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

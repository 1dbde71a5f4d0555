/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions to sums, means, products, extremes and truths: along rows where the elements that are reduced lie side by
 * side, by columns where the results do.
 */
#include "fast.h"
#include "reduction.h"

#include "dims.h"
#include "strided.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

typedef enum reduce_dims {
  REDUCE_ALL,
  REDUCE_NAMED,  /* by argument 1: none at all are all */
  REDUCE_LISTED, /* the same, but an empty list names none */
} reduce_dims;

typedef struct reduce_op {
  kw_fold_fn fold;
  bool divides;
  reduce_dims dims;
} reduce_op;

typedef struct reduce_plan {
  kw_reduction walk;
  const kw_fold *folds;
  kw_port in, out;
  int64_t lane_size; /* bytes */
  int64_t divisor;
  bool is_short;  /* by columns: lanes have the sum of a piece before a total has to take it */
  bool by_halves; /* kw_isa's sum_halves */
  bool copies;    /* each result is one element: */
  kw_strided copy;
} reduce_plan;
_Static_assert(sizeof(reduce_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static uint32_t dims_of(reduce_dims dims, const kw_call *call, uint32_t rank) {
  const kw_value *named = &call->args[1];
  if (dims == REDUCE_ALL) return (1u << rank) - 1;
  if (dims == REDUCE_LISTED && named->tag == KW_TAG_INT_LIST && named->count == 0) return 0;
  return kw_dims_named(named, rank);
}

static bool is_truth(kw_fold_fn fold) {
  return fold == KW_FOLD_ANY || fold == KW_FOLD_ALL;
}

static kw_status plan_reduce(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const reduce_op *op = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  reduce_plan *plan = out_plan;
  const uint32_t folded = dims_of(op->dims, call, in->rank);
  if (!kw_reduction_plan(&plan->walk, call->outs, 1, in, folded, false)) return KW_ERR_NOT_IMPLEMENTED;
  const kw_lane lane = kw_lane_of(is_truth(op->fold) ? in->dtype : out->dtype);
  if (out->dtype == KW_BOOL && in->dtype != KW_BOOL && !is_truth(op->fold)) {
    return KW_ERR_NOT_IMPLEMENTED; /* counts what is not 0 */
  }
  if (!kw_port_open(&plan->in, in->dtype, lane) || !kw_port_open(&plan->out, out->dtype, lane)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  plan->folds = &kw_fast_isa()->folds[op->fold][lane];
  plan->lane_size = kw_lane_size(lane);
  plan->divisor = op->divides ? plan->walk.folded.numel : 1;
  plan->by_halves = op->fold == KW_FOLD_SUM && lane == KW_LANE_F32 && kw_fast_isa()->sum_halves[in->dtype];
  plan->is_short = plan->walk.by_columns && plan->folds->rows && plan->walk.cut.piece <= KW_FOLD_ROWS * KW_FOLD_CALLS &&
                   (plan->divisor == 1 || plan->walk.cut.pieces > 1);
  if (plan->walk.folded.numel == 1 && !is_truth(op->fold)) {
    kw_tensor_ref same = *in; /* without the dimensions of size 1 that the result may not have */
    if (out->rank != in->rank) same = kw_dims_keep(in, ~folded);
    plan->copies = kw_strided_plan(&plan->copy, out, &same);
  }
  return KW_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct reduce_run {
  const reduce_plan *plan;
  char *base[2]; /* the result, what it is made of */
  char *pieces;  /* totals of every piece, of every result of it, or lanes if they are short; NULL where one is all */
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
  int64_t i = 0;
  if (plan->by_halves && step[0] == plan->in.size) {
    i = kw_fast_isa()->sum_halves[plan->in.dtype](&row->total, at[0], n);
  }
  for (; i < n; i += KW_LANE_BLOCK) {
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
  if (++c->calls == KW_FOLD_CALLS && !c->plan->is_short) flush_columns(c);
}

static void take_rows(void *context, char *const *at, const int64_t *step, int64_t n) {
  columns *c = context;
  const kw_port *in = &c->plan->in;
  for (int64_t i = 0; i < n; i++) {
    const char *row = at[0] + i * step[0];
    if (c->plan->folds->rows) {
      c->rows[c->count++] = row;
      if (c->count == KW_FOLD_ROWS) fold_waiting(c);
    } else {
      c->plan->folds->take(c->totals, kw_port_lanes(in, row, in->size, c->width, c->lanes[0]), c->width);
    }
  }
}

/* Makes `totals` of elements [begin, end) of `width` results; where these are few, only `into`. */
static void fold_columns(const reduce_plan *plan, char *in, const kw_cut_task *task, columns *c) {
  kw_total nothing;
  char lane[KW_LANE_BYTES];
  c->plan = plan;
  c->width = task->width;
  c->count = 0;
  plan->folds->start(&nothing);
  plan->folds->finish(lane, &nothing, 1);
  kw_lanes_fill(c->nothing, lane, plan->in.lane, c->width);
  clear_columns(c);
  for (int64_t i = 0; i < c->width && !plan->is_short; i++) c->totals[i] = nothing;
  kw_loop_run(&plan->walk.folded, &in, task->begin, task->end, take_rows, c);
  if (c->count > 0) fold_waiting(c);
  if (!plan->is_short) flush_columns(c);
}

/* Writes results side by side. */
static void write_lanes(const reduce_run *run, int64_t result, const void *lanes, int64_t width) {
  const kw_loop *kept = &run->plan->walk.kept;
  char *at[2];
  kw_loop_find(kept, run->base, result, at);
  kw_port_write(&run->plan->out, at[0], kept->step[0][kept->rank - 1], lanes, width);
}

static void store(const reduce_run *run, int64_t result, const kw_total *totals, int64_t width) {
  const reduce_plan *plan = run->plan;
  char lanes[KW_CUT_COLUMNS * KW_LANE_BYTES];
  plan->folds->finish_each(lanes, totals, plan->divisor, width);
  write_lanes(run, result, lanes, width);
}

/* What is kept of a result's piece: bytes. */
static int64_t kept_size(const reduce_plan *plan) {
  return plan->is_short ? plan->lane_size : (int64_t)sizeof(kw_total);
}

/* Pieces of results, or results by columns. */
static void run_tasks(void *user, int64_t begin, int64_t end) {
  const reduce_run *run = user;
  const reduce_plan *plan = run->plan;
  const kw_cut *cut = &plan->walk.cut;
  union {
    along_row row;
    columns columns;
  } state;
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(cut, i);
    const kw_total *totals = state.columns.totals;
    char *at[2];
    kw_loop_find(&plan->walk.kept, run->base, task.result, at);
    if (plan->walk.by_columns) {
      fold_columns(plan, at[1], &task, &state.columns);
    } else {
      state.row.plan = plan;
      plan->folds->start(&state.row.total);
      kw_loop_run(&plan->walk.folded, &at[1], task.begin, task.end, fold_row, &state.row);
      totals = &state.row.total;
    }
    if (run->pieces) {
      const void *made = plan->is_short ? (const void *)state.columns.into : totals;
      const int64_t size = kept_size(plan);
      memcpy(run->pieces + (task.piece * plan->walk.kept.numel + task.result) * size, made,
             (size_t)(task.width * size));
    } else if (plan->is_short) {
      write_lanes(run, task.result, state.columns.into, task.width);
    } else {
      store(run, task.result, totals, task.width);
    }
  }
}

typedef struct whole_rows {
  along_row row;
  kw_total totals[KW_CUT_COLUMNS];
  char lanes[KW_CUT_COLUMNS * KW_LANE_BYTES];
} whole_rows;

/* Results side by side, each made of one row or of several. */
static void fold_results(void *context, char *const *at, const int64_t *step, int64_t n) {
  whole_rows *rows = context;
  along_row *row = &rows->row;
  const reduce_plan *plan = row->plan;
  const kw_loop *folded = &plan->walk.folded;
  for (int64_t begin = 0; begin < n; begin += KW_CUT_COLUMNS) {
    const int64_t count = n - begin < KW_CUT_COLUMNS ? n - begin : KW_CUT_COLUMNS;
    for (int64_t i = 0; i < count; i++) {
      char *in = at[1] + (begin + i) * step[1];
      plan->folds->start(&row->total);
      if (folded->rank == 1) {
        fold_row(row, &in, &folded->step[0][0], folded->numel);
      } else {
        kw_loop_run(folded, &in, 0, folded->numel, fold_row, row);
      }
      rows->totals[i] = row->total;
    }
    plan->folds->finish_each(rows->lanes, rows->totals, plan->divisor, count);
    kw_port_write(&plan->out, at[0] + begin * step[0], step[0], rows->lanes, count);
  }
}

static void run_results(void *user, int64_t begin, int64_t end) {
  const reduce_run *run = user;
  whole_rows rows;
  rows.row.plan = run->plan;
  kw_loop_run(&run->plan->walk.kept, run->base, begin, end, fold_results, &rows);
}

/* The totals of `count` results from what is kept of their first pieces. */
static void merge(const reduce_plan *plan, kw_total *totals, const char *first, int64_t count) {
  const int64_t step = plan->walk.kept.numel * kept_size(plan);
  kw_total nothing;
  plan->folds->start(&nothing);
  for (int64_t i = 0; i < count; i++) totals[i] = nothing;
  for (int64_t k = 0; k < plan->walk.cut.pieces; k++) {
    const char *piece = first + k * step;
    if (plan->is_short) {
      plan->folds->take(totals, piece, count);
    } else {
      plan->folds->merge_each(totals, (const kw_total *)(const void *)piece, count);
    }
  }
}

typedef struct merged {
  const reduce_plan *plan;
  const char *first; /* piece of the next result */
} merged;

static void write_merged(void *context, char *const *at, const int64_t *step, int64_t n) {
  merged *m = context;
  kw_total totals[KW_CUT_COLUMNS];
  char lanes[KW_CUT_COLUMNS * KW_LANE_BYTES];
  for (int64_t i = 0; i < n; i += KW_CUT_COLUMNS) {
    const int64_t count = n - i < KW_CUT_COLUMNS ? n - i : KW_CUT_COLUMNS;
    merge(m->plan, totals, m->first, count);
    m->plan->folds->finish_each(lanes, totals, m->plan->divisor, count);
    kw_port_write(&m->plan->out, at[0] + i * step[0], step[0], lanes, count);
    m->first += count * kept_size(m->plan);
  }
}

static kw_status run_in_pieces(const kw_host_api *host, reduce_run *run) {
  const reduce_plan *plan = run->plan;
  const kw_cut *cut = &plan->walk.cut;
  const int64_t results = plan->walk.kept.numel;
  run->pieces = malloc((size_t)(results * cut->pieces * kept_size(plan)));
  if (!run->pieces) return KW_ERR_OUT_OF_MEMORY;
  const kw_status status = host->parallel_for(host->ctx, cut->tasks, cut->grain, run_tasks, run);
  if (status == KW_OK) {
    merged m = {plan, run->pieces};
    kw_loop_run(&plan->walk.kept, run->base, 0, results, write_merged, &m);
  }
  free(run->pieces);
  return status;
}

static kw_status run_reduce(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const reduce_plan *plan = the_plan;
  const kw_cut *cut = &plan->walk.cut;
  reduce_run run = {plan, {kw_walk_base(call->outs[0]), kw_walk_base(call->args[0].u.tensor)}, NULL};
  if (plan->copies) return kw_strided_run(&plan->copy, host, run.base[0], run.base[1]);
  if (cut->pieces > 1) return run_in_pieces(host, &run);
  if (plan->walk.by_columns) return host->parallel_for(host->ctx, cut->tasks, cut->grain, run_tasks, &run);
  return host->parallel_for(host->ctx, plan->walk.kept.numel, cut->grain, run_results, &run);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define REDUCTION(name, keys, fold, divides, dims)                                                                    \
  {                                                                                                                   \
    .op = name, .dtypes = KW_DTYPES_##keys, .plan_size = sizeof(reduce_plan),                                         \
    .family = &(const reduce_op){KW_FOLD_##fold, divides, REDUCE_##dims}, .make_plan = plan_reduce, .run = run_reduce \
  }

static const kw_fast_kernel kernels[] = {
    REDUCTION("sum", REAL, SUM, false, ALL),         REDUCTION("sum.dim_IntList", REAL, SUM, false, NAMED),
    REDUCTION("mean", FLOAT, SUM, true, ALL),        REDUCTION("mean.dim", FLOAT, SUM, true, NAMED),
    REDUCTION("amax", REAL, MAX, false, NAMED),      REDUCTION("amin", REAL, MIN, false, NAMED),
    REDUCTION("prod", REAL, PRODUCT, false, ALL),    REDUCTION("prod.dim_int", REAL, PRODUCT, false, NAMED),
    REDUCTION("any", REAL, ANY, false, ALL),         REDUCTION("any.dim", REAL, ANY, false, LISTED),
    REDUCTION("any.dims", REAL, ANY, false, LISTED), REDUCTION("all.dims", REAL, ALL, false, LISTED),
};

kw_fast_family kw_fast_reductions(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

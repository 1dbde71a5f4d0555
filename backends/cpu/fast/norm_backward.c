/* SPDX-License-Identifier: Apache-2.0
 *
 * Backwards of norms. The gradient of the input comes from rows: two sums, and a pass with what these say. Gradients of
 * weights are sums over all rows: along runs of elements that share a weight, or by columns where weights lie side by
 * side. Where a channel is a row, its sums are the gradients of its weights already.
 */
#include "cut.h"
#include "norm.h"
#include "room.h"
#include "sizes.h"

#include "walk.h"

#include <string.h>

/* Operands of both loops; IN is the one that is always there. */
enum { IN, GRAD, MEAN, RSTD, WEIGHT, OUT, OUT_WEIGHT, OUT_BIAS, OPERANDS };
_Static_assert(OPERANDS <= KW_LOOP_OPERANDS, "a loop has no room for the operands");

/* An op of the family: which arguments are what. */
typedef struct slope_op {
  kw_norm_rows rows;
  int weight, rstd;
  bool centred; /* the mean of a row was subtracted: it stands before rstd */
  int detail;   /* the normalised shape, or how many groups */
  int training; /* where it says no, mean and variance were given, in the arguments from `given` on */
  int given, eps;
} slope_op;

typedef struct slope_plan {
  kw_rows rows;   /* of the input */
  kw_rows shares; /* the elements that share a weight, one row for each weight */
  kw_lane lane;
  bool centred, given;
  bool by_channels; /* both kinds of rows are one */
  bool by_columns;  /* how gradients of weights are made otherwise */
  bool is_short;    /* by columns: lanes have the sums before totals have to take them */
  kw_cut cut;
  bool has[OPERANDS];
  kw_port ports[OPERANDS];
} slope_plan;
_Static_assert(sizeof(slope_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* The tensors of a call by operand, NULL where there is none. */
static void slope_tensors(const slope_op *op, bool given, const kw_call *call, const kw_tensor_ref *out[OPERANDS]) {
  const kw_value *args = call->args;
  const int rstd = given ? op->given + 1 : op->rstd;
  for (uint32_t k = 0; k < OPERANDS; k++) out[k] = NULL;
  out[GRAD] = args[0].u.tensor;
  out[IN] = args[1].u.tensor;
  out[RSTD] = args[rstd].u.tensor;
  if (op->centred) out[MEAN] = args[rstd - 1].u.tensor;
  if (args[op->weight].tag == KW_TAG_TENSOR) out[WEIGHT] = args[op->weight].u.tensor;
  for (uint32_t k = 0; k < call->out_count; k++) out[OUT + k] = call->outs[k];
}

static void plan_rows(kw_rows *rows, uint32_t mask, const kw_norm_layout *layout, const kw_tensor_ref *const *tensors) {
  const kw_tensor_ref in = kw_norm_view(layout, tensors[IN]);
  kw_rows_begin(rows, &in, mask);
  for (uint32_t k = IN + 1; k < OPERANDS; k++) {
    if (!tensors[k]) {
      kw_loop_add_constant(&rows->outer);
      kw_loop_add_constant(&rows->inner);
      continue;
    }
    const kw_tensor_ref view = k == GRAD || k == OUT    ? kw_norm_view(layout, tensors[k])
                               : k == MEAN || k == RSTD ? kw_norm_numbers(layout, tensors[k], &in)
                                                        : kw_norm_weights(layout, tensors[k], &in);
    kw_rows_add(rows, &view);
  }
  kw_rows_make(rows);
}

/* Whether elements of a row of shares are far apart, and those of neighbouring shares side by side. */
static bool are_columns(const slope_plan *plan) {
  const kw_loop *kept = &plan->shares.outer, *folded = &plan->shares.inner;
  const uint32_t across = kept->rank - 1, along = folded->rank - 1;
  const int64_t size = plan->ports[IN].size;
  return kept->step[IN][across] == size && folded->step[IN][along] != size && kept->step[MEAN][across] == 0 &&
         kept->step[RSTD][across] == 0;
}

static kw_status plan_slopes(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const slope_op *op = kernel->family;
  const kw_tensor_ref *tensors[OPERANDS], *in = call->args[1].u.tensor;
  slope_plan *plan = out_plan;
  plan->lane = kw_lane_of(in->dtype);
  plan->centred = op->centred;
  plan->given = op->training && !call->args[op->training].u.b;
  plan->by_channels = op->rows == KW_NORM_EACH_CHANNEL;
  slope_tensors(op, plan->given, call, tensors);
  if (op->rows == KW_NORM_EACH_GROUP && in->rank == KW_MAX_RANK) return KW_ERR_NOT_IMPLEMENTED;
  if (in->numel == 0) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t k = 0; k < OPERANDS; k++) {
    plan->has[k] = tensors[k] != NULL;
    if (!tensors[k]) continue;
    if (!kw_port_open(&plan->ports[k], tensors[k]->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
  }
  const kw_norm_layout layout = kw_norm_layout_of(op->rows, in->rank, &call->args[op->detail]);
  plan_rows(&plan->rows, layout.outer, &layout, tensors);
  plan_rows(&plan->shares, layout.weights, &layout, tensors);
  plan->by_columns = are_columns(plan);
  const kw_loop *kept = &plan->shares.outer;
  kw_cut_make(&plan->cut, kept->numel, plan->by_columns ? kept->shape[kept->rank - 1] : 1, plan->shares.inner.numel);
  plan->is_short = plan->by_columns && plan->cut.pieces == 1 && plan->cut.folded <= KW_FOLD_ROWS * KW_FOLD_CALLS;
  return KW_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

typedef struct slope_run {
  const kw_host_api *host;
  const slope_plan *plan;
  double eps;
  char *base[OPERANDS];
  kw_total *totals[2]; /* of all weights, piece by piece; NULL where there is one piece */
  atomic_int status;
} slope_run;

/* A row, and lanes for a block of it. */
typedef struct slope_row {
  const slope_plan *plan;
  const kw_row_lanes *of;
  bool is_weighted;
  kw_total totals[2]; /* of gradients, and of these times the normalised input */
  _Alignas(16) char mean[KW_LANE_BYTES], rstd[KW_LANE_BYTES], scale[KW_LANE_BYTES], means[2 * KW_LANE_BYTES];
  _Alignas(64) char grad[KW_LANE_BLOCK * KW_LANE_BYTES], x[KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char weight[KW_LANE_BLOCK * KW_LANE_BYTES], out[KW_LANE_BLOCK * KW_LANE_BYTES];
} slope_row;

static void begin_row(slope_row *row, const slope_plan *plan, bool is_weighted) {
  memset(row, 0, offsetof(slope_row, grad)); /* a mean that is not there is 0 */
  row->plan = plan;
  row->of = &kw_fast_isa()->rows[plan->lane];
  row->is_weighted = is_weighted && plan->has[WEIGHT];
  if (!row->is_weighted) kw_lanes_fill_number(row->weight, 1, plan->lane, KW_LANE_BLOCK);
}

static void read_numbers(slope_row *row, char *const *at) {
  const slope_plan *plan = row->plan;
  if (plan->has[MEAN]) kw_port_read(&plan->ports[MEAN], row->mean, at[MEAN], 0, 1);
  kw_port_read(&plan->ports[RSTD], row->rstd, at[RSTD], 0, 1);
}

static void start_totals(slope_row *row) {
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][row->plan->lane];
  for (uint32_t k = 0; k < 2; k++) sum->start(&row->totals[k]);
}

/* A weight that a whole run shares. */
static void fill_weight(slope_row *row, char *const *at, const int64_t *step, int64_t n) {
  _Alignas(8) char lane[KW_LANE_BYTES];
  if (!row->is_weighted || step[WEIGHT] != 0) return;
  kw_port_read(&row->plan->ports[WEIGHT], lane, at[WEIGHT], 0, 1);
  kw_lanes_fill(row->weight, lane, row->plan->lane, kw_block_at(0, n));
}

static kw_slope_lanes slope_lanes(slope_row *row, char *const *at, const int64_t *step, int64_t i, int64_t n) {
  const kw_port *ports = row->plan->ports;
  const int64_t count = kw_block_at(i, n);
  kw_slope_lanes of = {.weight = row->weight, .mean = row->mean, .rstd = row->rstd};
  of.grad = kw_port_lanes(&ports[GRAD], at[GRAD] + i * step[GRAD], step[GRAD], count, row->grad);
  of.x = kw_port_lanes(&ports[IN], at[IN] + i * step[IN], step[IN], count, row->x);
  if (row->is_weighted && step[WEIGHT] != 0) {
    of.weight = kw_port_lanes(&ports[WEIGHT], at[WEIGHT] + i * step[WEIGHT], step[WEIGHT], count, row->weight);
  }
  return of;
}

static void sum_run(void *context, char *const *at, const int64_t *step, int64_t n) {
  slope_row *row = context;
  fill_weight(row, at, step, n);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const kw_slope_lanes of = slope_lanes(row, at, step, i, n);
    row->of->add_slopes(row->totals, &of, kw_block_at(i, n));
  }
}

static void slope_of_run(void *context, char *const *at, const int64_t *step, int64_t n) {
  static const double zero = 0;
  slope_row *row = context;
  const kw_port *out = &row->plan->ports[OUT];
  const bool stays = kw_port_is_lanes(out, step[OUT]);
  fill_weight(row, at, step, n);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const kw_slope_lanes of = slope_lanes(row, at, step, i, n);
    char *to = at[OUT] + i * step[OUT];
    void *lanes = stays ? to : row->out;
    if (row->plan->given) { /* numbers that do not depend on the input */
      kw_lanes_fill_number(row->x, -0.0, row->plan->lane, count);
      row->of->normalise(lanes, of.grad, &zero, row->scale, of.weight, row->x, count);
    } else {
      row->of->slope(lanes, &of, row->means, row->scale, count);
    }
    if (!stays) kw_port_write(out, to, step[OUT], lanes, count);
  }
}

/* Gradients of weights as lanes, side by side. */
typedef struct weight_lanes {
  const slope_plan *plan;
  const char *lanes[2];
} weight_lanes;

static void write_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  static const uint32_t operands[2] = {OUT_BIAS, OUT_WEIGHT};
  weight_lanes *w = context;
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t operand = operands[k];
    if (w->plan->has[operand]) kw_port_write(&w->plan->ports[operand], at[operand], step[operand], w->lanes[k], n);
    w->lanes[k] += n * kw_lane_size(w->plan->lane);
  }
}

/* A channel has one weight: its rows are summed without it. */
static void finish_channel(slope_row *row, char *const *at) {
  const slope_plan *plan = row->plan;
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  _Alignas(8) char weight[KW_LANE_BYTES], lanes[2][KW_LANE_BYTES];
  const int64_t none[OPERANDS] = {0};
  const void *factors[] = {row->scale, weight};
  for (uint32_t k = 0; k < 2; k++) sum->finish(lanes[k], &row->totals[k], 1);
  write_row(&(weight_lanes){plan, {lanes[0], lanes[1]}}, at, none, 1);
  if (!plan->has[WEIGHT]) return;
  kw_port_read(&plan->ports[WEIGHT], weight, at[WEIGHT], 0, 1);
  kw_fast_isa()->pointwise[KW_POINTWISE_MUL][plan->lane](row->scale, factors, 1);
}

static void run_rows(void *user, int64_t begin, int64_t end) {
  const slope_run *run = user;
  const slope_plan *plan = run->plan;
  const kw_loop *inner = &plan->rows.inner;
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  slope_row row;
  begin_row(&row, plan, !plan->by_channels);
  for (int64_t i = begin; i < end; i++) {
    char *at[OPERANDS];
    kw_loop_find(&plan->rows.outer, run->base, i, at);
    read_numbers(&row, at);
    if (plan->given) row.of->rstd(row.rstd, row.rstd, run->eps, 1);
    start_totals(&row);
    kw_loop_run(inner, at, 0, inner->numel, sum_run, &row);
    if (plan->centred) sum->finish(row.means, &row.totals[0], inner->numel);
    sum->finish(row.means + kw_lane_size(plan->lane), &row.totals[1], inner->numel);
    memcpy(row.scale, row.rstd, KW_LANE_BYTES);
    if (plan->by_channels) finish_channel(&row, at);
    if (plan->has[OUT]) kw_loop_run(inner, at, 0, inner->numel, slope_of_run, &row);
  }
}

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

/* The sums of a strip of columns. */
typedef struct columns {
  const slope_plan *plan;
  int64_t width;
  const char *rows[2][KW_FOLD_ROWS]; /* of the gradient and of the input, which wait */
  uint32_t count;                    /* of them */
  uint32_t calls;                    /* of slope_rows since the totals took the sums */
  _Alignas(64) char means[KW_FOLD_ROWS * KW_LANE_BYTES], rstds[KW_FOLD_ROWS * KW_LANE_BYTES];
  _Alignas(64) char sums[2][KW_CUT_COLUMNS * KW_LANE_BYTES];
  kw_total totals[2][KW_CUT_COLUMNS];
} columns;

static void flush_columns(columns *c) {
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][c->plan->lane];
  for (uint32_t k = 0; k < 2; k++) sum->take(c->totals[k], c->sums[k], c->width);
  memset(c->sums, 0, sizeof c->sums);
  c->calls = 0;
}

static void fold_waiting(columns *c) {
  static const uint32_t operands[2] = {GRAD, IN};
  static const _Alignas(64) char nothing[KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char lanes[2][KW_FOLD_ROWS][KW_CUT_COLUMNS * KW_LANE_BYTES];
  const void *rows[2][KW_FOLD_ROWS];
  for (uint32_t o = 0; o < 2; o++) {
    const kw_port *port = &c->plan->ports[operands[o]];
    const int64_t step = c->plan->shares.outer.step[operands[o]][c->plan->shares.outer.rank - 1];
    for (uint32_t k = 0; k < KW_FOLD_ROWS; k++) {
      rows[o][k] =
          k < c->count ? kw_port_lanes(port, c->rows[o][k], step, c->width, lanes[o][k]) : (const void *)nothing;
    }
  }
  kw_fast_isa()->rows[c->plan->lane].slope_rows((void *[]){c->sums[0], c->sums[1]}, rows[0], rows[1], c->means,
                                                c->rstds, c->width);
  c->count = 0;
  memset(c->means, 0, sizeof c->means);
  memset(c->rstds, 0, sizeof c->rstds);
  if (++c->calls == KW_FOLD_CALLS && !c->plan->is_short) flush_columns(c);
}

static void take_rows(void *context, char *const *at, const int64_t *step, int64_t n) {
  columns *c = context;
  const kw_port *ports = c->plan->ports;
  const int64_t size = kw_lane_size(c->plan->lane);
  for (int64_t i = 0; i < n; i++) {
    c->rows[0][c->count] = at[GRAD] + i * step[GRAD];
    c->rows[1][c->count] = at[IN] + i * step[IN];
    if (c->plan->has[MEAN]) kw_port_read(&ports[MEAN], c->means + c->count * size, at[MEAN] + i * step[MEAN], 0, 1);
    kw_port_read(&ports[RSTD], c->rstds + c->count * size, at[RSTD] + i * step[RSTD], 0, 1);
    if (++c->count == KW_FOLD_ROWS) fold_waiting(c);
  }
}

static void begin_columns(columns *c, const slope_plan *plan, int64_t width) {
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  memset(c, 0, offsetof(columns, totals));
  c->plan = plan;
  c->width = width;
  kw_total nothing;
  sum->start(&nothing);
  for (int64_t i = 0; i < width && !plan->is_short; i++) c->totals[0][i] = c->totals[1][i] = nothing;
}

/* A run of elements that share a weight; where each has a mean and rstd of its own, one after the other. */
static void sum_share(void *context, char *const *at, const int64_t *step, int64_t n) {
  slope_row *row = context;
  const bool same = step[MEAN] == 0 && step[RSTD] == 0;
  for (int64_t i = 0; i < n; i += same ? n : 1) {
    char *here[OPERANDS];
    for (uint32_t k = 0; k < OPERANDS; k++) here[k] = at[k] + i * step[k];
    read_numbers(row, here);
    sum_run(row, here, step, same ? n : 1);
  }
}

static void write_lanes(const slope_run *run, int64_t weight, const char *const lanes[2], int64_t width) {
  weight_lanes w = {run->plan, {lanes[0], lanes[1]}};
  kw_loop_run(&run->plan->shares.outer, run->base, weight, weight + width, write_row, &w);
}

static void store(const slope_run *run, int64_t weight, const kw_total *const totals[2], int64_t width) {
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][run->plan->lane];
  _Alignas(8) char lanes[2][KW_CUT_COLUMNS * KW_LANE_BYTES];
  for (int64_t i = 0; i < width; i += KW_CUT_COLUMNS) {
    const int64_t count = kw_least(width - i, KW_CUT_COLUMNS);
    for (uint32_t k = 0; k < 2; k++) sum->finish_each(lanes[k], totals[k] + i, 1, count);
    write_lanes(run, weight + i, (const char *[]){lanes[0], lanes[1]}, count);
  }
}

/* What a task has made of its elements: results, or a piece of them. */
static void keep(const slope_run *run, const kw_cut_task *task, const kw_total *const totals[2]) {
  if (!run->totals[0]) {
    store(run, task->result, totals, task->width);
    return;
  }
  for (uint32_t k = 0; k < 2; k++) {
    kw_total *to = run->totals[k] + task->piece * run->plan->shares.outer.numel + task->result;
    memcpy(to, totals[k], (size_t)task->width * sizeof *to);
  }
}

static void keep_columns(const slope_run *run, const kw_cut_task *task, columns *c) {
  if (c->count > 0) fold_waiting(c);
  if (run->plan->is_short) {
    write_lanes(run, task->result, (const char *[]){c->sums[0], c->sums[1]}, task->width);
    return;
  }
  flush_columns(c);
  keep(run, task, (const kw_total *[]){c->totals[0], c->totals[1]});
}

/* Rows [begin, end) of the columns of a task. */
static void fold_columns(const slope_run *run, const kw_cut_task *task, int64_t begin, int64_t end, columns *c) {
  char *at[OPERANDS];
  kw_loop_find(&run->plan->shares.outer, run->base, task->result, at);
  kw_loop_run(&run->plan->shares.inner, at, begin, end, take_rows, c);
}

static void run_shares(void *user, int64_t begin, int64_t end) {
  const slope_run *run = user;
  const slope_plan *plan = run->plan;
  union {
    slope_row row;
    columns columns;
  } state;
  if (!plan->by_columns) begin_row(&state.row, plan, false);
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&plan->cut, i);
    if (plan->by_columns) {
      begin_columns(&state.columns, plan, task.width);
      fold_columns(run, &task, task.begin, task.end, &state.columns);
      keep_columns(run, &task, &state.columns);
      continue;
    }
    char *at[OPERANDS];
    kw_loop_find(&plan->shares.outer, run->base, task.result, at);
    start_totals(&state.row);
    kw_loop_run(&plan->shares.inner, at, task.begin, task.end, sum_share, &state.row);
    keep(run, &task, (const kw_total *[]){&state.row.totals[0], &state.row.totals[1]});
  }
}

/* Rows of a piece are in the caches when their share of the weights' gradients is made, of all strips of columns. */
static void run_pieces(void *user, int64_t begin, int64_t end) {
  slope_run *run = user;
  const kw_cut *cut = &run->plan->cut;
  const int64_t strips = cut->tasks / cut->pieces;
  columns *all = kw_fast_room(run->host, (uint64_t)strips * sizeof *all, &run->status);
  if (!all) return;
  for (int64_t piece = begin; piece < end; piece++) {
    const int64_t last = kw_least((piece + 1) * cut->piece, cut->folded);
    for (int64_t s = 0; s < strips; s++) {
      begin_columns(&all[s], run->plan, kw_cut_task_of(cut, s * cut->pieces + piece).width);
    }
    for (int64_t row = piece * cut->piece; row < last; row += KW_FOLD_ROWS) {
      const int64_t next = kw_least(row + KW_FOLD_ROWS, last);
      run_rows(run, row, next);
      for (int64_t s = 0; s < strips; s++) {
        const kw_cut_task task = kw_cut_task_of(cut, s * cut->pieces + piece);
        fold_columns(run, &task, row, next, &all[s]);
      }
    }
    for (int64_t s = 0; s < strips; s++) {
      const kw_cut_task task = kw_cut_task_of(cut, s * cut->pieces + piece);
      keep_columns(run, &task, &all[s]);
    }
  }
  run->host->host_free(run->host->ctx, all);
}

/* Whether pieces are of whole rows, and enough of them for the threads. */
static kw_status plan_pieces(const kw_host_api *host, const slope_plan *plan, bool *out_by_pieces) {
  uint32_t threads = 1;
  const kw_status status = host->thread_count(host->ctx, &threads);
  *out_by_pieces = plan->by_columns && plan->rows.outer.numel == plan->cut.folded && plan->cut.pieces >= threads;
  return status;
}

/* With the gradient of the input, if `by_pieces`. */
static kw_status run_weights(const kw_host_api *host, slope_run *run, bool by_pieces) {
  const slope_plan *plan = run->plan;
  const int64_t weights = plan->shares.outer.numel, pieces = plan->cut.pieces;
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  void *room = NULL;
  if (pieces > 1) {
    const uint64_t size = (uint64_t)(weights * pieces) * 2 * sizeof(kw_total);
    const kw_status status = host->host_alloc(host->ctx, size, 64, &room);
    if (status != KW_OK) return status;
    run->totals[0] = room;
    run->totals[1] = run->totals[0] + weights * pieces;
  }
  const kw_status status = by_pieces ? host->parallel_for(host->ctx, pieces, 1, run_pieces, run)
                                     : host->parallel_for(host->ctx, plan->cut.tasks, plan->cut.grain, run_shares, run);
  if (room && status == KW_OK) {
    for (int64_t piece = 1; piece < pieces; piece++) {
      for (uint32_t k = 0; k < 2; k++) sum->merge_each(run->totals[k], run->totals[k] + piece * weights, weights);
    }
    store(run, 0, (const kw_total *[]){run->totals[0], run->totals[1]}, weights);
  }
  if (room) host->host_free(host->ctx, room);
  return status == KW_OK ? (kw_status)atomic_load(&run->status) : status;
}

static kw_status run_slopes(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const slope_plan *plan = the_plan;
  const slope_op *op = ((const kw_fast_kernel *)call->user)->family;
  const kw_tensor_ref *tensors[OPERANDS];
  slope_run run = {.host = host, .plan = plan};
  if (plan->given) run.eps = kw_norm_number(&call->args[op->eps], 0);
  slope_tensors(op, plan->given, call, tensors);
  for (uint32_t k = 0; k < OPERANDS; k++) {
    if (tensors[k]) run.base[k] = kw_walk_base(tensors[k]);
  }
  const bool has_weights = plan->has[OUT_WEIGHT] || plan->has[OUT_BIAS];
  const bool has_rows = plan->has[OUT] || (plan->by_channels && has_weights);
  const bool has_shares = has_weights && !plan->by_channels;
  bool by_pieces = false;
  kw_status status = KW_OK;
  if (has_rows && has_shares) status = plan_pieces(host, plan, &by_pieces);
  if (status == KW_OK && has_rows && !by_pieces) {
    status = host->parallel_for(host->ctx, plan->rows.outer.numel, kw_rows_grain(&plan->rows), run_rows, &run);
  }
  if (status == KW_OK && has_shares) status = run_weights(host, &run, by_pieces);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define SLOPES(name, ...)                                                                                             \
  {                                                                                                                   \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(slope_plan), .family = &(const slope_op){__VA_ARGS__}, \
    .make_plan = plan_slopes, .run = run_slopes                                                                       \
  }

static const kw_fast_kernel kernels[] = {
    SLOPES("native_layer_norm_backward", KW_NORM_LAST_DIMS, .detail = 2, .rstd = 4, .centred = true, .weight = 5),
    SLOPES("_fused_rms_norm_backward", KW_NORM_LAST_DIMS, .detail = 2, .rstd = 3, .weight = 4),
    SLOPES("native_group_norm_backward", KW_NORM_EACH_GROUP, .rstd = 3, .centred = true, .weight = 4, .detail = 8),
    SLOPES("native_batch_norm_backward", KW_NORM_EACH_CHANNEL, .weight = 2, .given = 3, .rstd = 6, .centred = true,
           .training = 7, .eps = 8),
};

kw_fast_family kw_fast_norm_backwards(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

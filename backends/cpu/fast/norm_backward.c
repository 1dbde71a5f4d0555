/* SPDX-License-Identifier: Apache-2.0
 *
 * Backwards of norms. The gradient of the input comes from rows: two sums, and a pass with what these say. Gradients of
 * weights are sums over all rows: along runs of elements that share a weight, or by columns where weights lie side by
 * side. Where a channel is a row, its sums are the gradients of its weights already.
 */
#include "cut.h"
#include "norm.h"
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
  return KW_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

typedef struct slope_run {
  const slope_plan *plan;
  double eps;
  char *base[OPERANDS];
  kw_total *totals[2]; /* of all weights, piece by piece; NULL where there is one piece */
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

/* Writes the gradients of `count` weights, step bytes apart, from their totals. */
static void write_sums(const slope_plan *plan, char *const *at, const int64_t step[2], const kw_total *const totals[2],
                       int64_t count) {
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  _Alignas(8) char lanes[KW_CUT_COLUMNS * KW_LANE_BYTES];
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t operand = k == 0 ? OUT_BIAS : OUT_WEIGHT;
    if (!plan->has[operand]) continue;
    sum->finish_each(lanes, totals[k], 1, count);
    kw_port_write(&plan->ports[operand], at[operand], step[k], lanes, count);
  }
}

/* A channel has one weight: its rows are summed without it. */
static void finish_channel(slope_row *row, char *const *at) {
  const slope_plan *plan = row->plan;
  const int64_t none[2] = {0, 0};
  _Alignas(8) char weight[KW_LANE_BYTES];
  const void *factors[] = {row->scale, weight};
  write_sums(plan, at, none, (const kw_total *[]){&row->totals[0], &row->totals[1]}, 1);
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

typedef struct columns {
  const slope_plan *plan;
  int64_t width;
  const char *rows[2][KW_FOLD_ROWS]; /* of the gradient and of the input, which wait */
  uint32_t count;                    /* of them */
  uint32_t calls;                    /* of slope_rows since the totals took the sums */
  _Alignas(64) char means[KW_FOLD_ROWS * KW_LANE_BYTES], rstds[KW_FOLD_ROWS * KW_LANE_BYTES];
  _Alignas(64) char sums[2][KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char nothing[KW_CUT_COLUMNS * KW_LANE_BYTES];
  kw_total totals[2][KW_CUT_COLUMNS];
  _Alignas(64) char lanes[2][KW_FOLD_ROWS][KW_CUT_COLUMNS * KW_LANE_BYTES];
} columns;

static void flush_columns(columns *c) {
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][c->plan->lane];
  for (uint32_t k = 0; k < 2; k++) sum->take(c->totals[k], c->sums[k], c->width);
  memset(c->sums, 0, sizeof c->sums);
  c->calls = 0;
}

static void fold_waiting(columns *c) {
  static const uint32_t operands[2] = {GRAD, IN};
  const void *rows[2][KW_FOLD_ROWS];
  for (uint32_t o = 0; o < 2; o++) {
    const kw_port *port = &c->plan->ports[operands[o]];
    const int64_t step = c->plan->shares.outer.step[operands[o]][c->plan->shares.outer.rank - 1];
    for (uint32_t k = 0; k < KW_FOLD_ROWS; k++) {
      rows[o][k] =
          k < c->count ? kw_port_lanes(port, c->rows[o][k], step, c->width, c->lanes[o][k]) : (const void *)c->nothing;
    }
  }
  kw_fast_isa()->rows[c->plan->lane].slope_rows((void *[]){c->sums[0], c->sums[1]}, rows[0], rows[1], c->means,
                                                c->rstds, c->width);
  c->count = 0;
  memset(c->means, 0, sizeof c->means);
  memset(c->rstds, 0, sizeof c->rstds);
  if (++c->calls == KW_FOLD_CALLS) flush_columns(c);
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

static void fold_columns(const slope_plan *plan, char *const *at, const kw_cut_task *task, columns *c) {
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  memset(c, 0, offsetof(columns, totals));
  c->plan = plan;
  c->width = task->width;
  kw_total nothing;
  sum->start(&nothing);
  for (int64_t i = 0; i < task->width; i++) c->totals[0][i] = c->totals[1][i] = nothing;
  kw_loop_run(&plan->shares.inner, at, task->begin, task->end, take_rows, c);
  if (c->count > 0) fold_waiting(c);
  flush_columns(c);
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

/* Gradients of weights are written side by side, from their totals, of which the first are at `totals`. */
typedef struct written {
  const slope_plan *plan;
  const kw_total *totals[2];
} written;

static void write_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  written *w = context;
  const int64_t steps[2] = {step[OUT_BIAS], step[OUT_WEIGHT]};
  for (int64_t i = 0; i < n; i += KW_CUT_COLUMNS) {
    const int64_t count = kw_least(n - i, KW_CUT_COLUMNS);
    char *here[OPERANDS];
    for (uint32_t k = OUT_WEIGHT; k <= OUT_BIAS; k++) here[k] = at[k] + i * step[k];
    write_sums(w->plan, here, steps, w->totals, count);
    for (uint32_t k = 0; k < 2; k++) w->totals[k] += count;
  }
}

static void store(const slope_run *run, int64_t weight, const kw_total *const totals[2], int64_t width) {
  written w = {run->plan, {totals[0], totals[1]}};
  kw_loop_run(&run->plan->shares.outer, run->base, weight, weight + width, write_row, &w);
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
    const kw_total *totals[2] = {state.columns.totals[0], state.columns.totals[1]};
    char *at[OPERANDS];
    kw_loop_find(&plan->shares.outer, run->base, task.result, at);
    if (plan->by_columns) {
      fold_columns(plan, at, &task, &state.columns);
    } else {
      start_totals(&state.row);
      kw_loop_run(&plan->shares.inner, at, task.begin, task.end, sum_share, &state.row);
      for (uint32_t k = 0; k < 2; k++) totals[k] = &state.row.totals[k];
    }
    if (plan->cut.pieces == 1) {
      store(run, task.result, totals, task.width);
      continue;
    }
    for (uint32_t k = 0; k < 2; k++) {
      kw_total *to = run->totals[k] + task.piece * plan->shares.outer.numel + task.result;
      memcpy(to, totals[k], (size_t)task.width * sizeof *to);
    }
  }
}

/* A piece's rows are in the caches when their share of the weights' gradients is made. */
static void run_pieces(void *user, int64_t begin, int64_t end) {
  slope_run *run = user;
  const kw_cut *cut = &run->plan->cut;
  for (int64_t piece = begin; piece < end; piece++) {
    run_rows(run, piece * cut->piece, kw_least((piece + 1) * cut->piece, cut->folded));
    for (int64_t task = piece; task < cut->tasks; task += cut->pieces) run_shares(run, task, task + 1);
  }
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
  return status;
}

static kw_status run_slopes(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const slope_plan *plan = the_plan;
  const slope_op *op = ((const kw_fast_kernel *)call->user)->family;
  const kw_tensor_ref *tensors[OPERANDS];
  slope_run run = {.plan = plan};
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

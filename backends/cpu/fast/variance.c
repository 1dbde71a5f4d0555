/* SPDX-License-Identifier: Apache-2.0
 *
 * Variances: the mean of a result's elements first, then the squares of what they differ by. Where results are cut into
 * pieces all means are there before the first square is.
 */
#include "fast.h"
#include "norm.h"
#include "reduction.h"

#include "dims.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct variance_plan {
  kw_reduction walk;
  kw_port in, outs[2];
  kw_lane lane;
  uint32_t out_count; /* the variances, and behind them the means */
} variance_plan;
_Static_assert(sizeof(variance_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

static kw_status plan_variance(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor;
  variance_plan *plan = out_plan;
  (void)kernel;
  plan->out_count = call->out_count;
  plan->lane = kw_lane_of(in->dtype);
  if (!kw_port_open(&plan->in, in->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t k = 0; k < plan->out_count; k++) {
    if (!kw_port_open(&plan->outs[k], call->outs[k]->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
  }
  const uint32_t folded = kw_dims_named(&call->args[1], in->rank);
  const bool has_elements = kw_reduction_plan(&plan->walk, call->outs, plan->out_count, in, folded, false);
  return has_elements ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct variance_run {
  const variance_plan *plan;
  const kw_isa *isa;
  char *base[3];
  double divisor;

  kw_total *totals; /* of every piece of every result; NULL where there is one piece */
  char *means;      /* with them: a lane for each result */
  bool of_squares;  /* what the totals are */
} variance_run;

/* Of one task, whose results stand side by side. */
typedef struct measured {
  const variance_run *run;
  const kw_fold *sum;
  int64_t width;
  bool of_squares;
  kw_total totals[KW_CUT_COLUMNS];
  _Alignas(64) char means[KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char lanes[KW_LANE_BLOCK * KW_LANE_BYTES];
} measured;

static void add_elements(void *context, char *const *at, const int64_t *step, int64_t n) {
  measured *m = context;
  const variance_plan *plan = m->run->plan;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const void *lanes = kw_port_lanes(&plan->in, at[0] + i * step[0], step[0], count, m->lanes);
    if (m->of_squares) {
      m->run->isa->rows[plan->lane].add_squares(&m->totals[0], lanes, m->means, count);
    } else {
      m->sum->fold(&m->totals[0], lanes, count);
    }
  }
}

static void add_columns(void *context, char *const *at, const int64_t *step, int64_t n) {
  measured *m = context;
  const variance_plan *plan = m->run->plan;
  const kw_isa *isa = m->run->isa;
  for (int64_t i = 0; i < n; i++) {
    const void *row = kw_port_lanes(&plan->in, at[0] + i * step[0], plan->in.size, m->width, m->lanes);
    if (m->of_squares) {
      isa->pointwise[KW_POINTWISE_SUB][plan->lane](m->lanes, (const void *[]){row, m->means}, m->width);
      isa->pointwise[KW_POINTWISE_MUL][plan->lane](m->lanes, (const void *[]){m->lanes, m->lanes}, m->width);
      row = m->lanes;
    }
    m->sum->take(m->totals, row, m->width);
  }
}

static void measure(measured *m, char *in, const kw_cut_task *task, bool of_squares) {
  const kw_reduction *walk = &m->run->plan->walk;
  m->width = task->width;
  m->of_squares = of_squares;
  for (int64_t i = 0; i < task->width; i++) m->sum->start(&m->totals[i]);
  kw_loop_run(&walk->folded, &in, task->begin, task->end, walk->by_columns ? add_columns : add_elements, m);
}

static void store(const variance_run *run, int64_t result, const kw_total *squares, const void *means, int64_t width) {
  const variance_plan *plan = run->plan;
  const kw_loop *kept = &plan->walk.kept;
  char lanes[KW_CUT_COLUMNS * KW_LANE_BYTES], divisors[KW_CUT_COLUMNS * KW_LANE_BYTES];
  char *at[3];
  kw_loop_find(kept, run->base, result, at);
  run->isa->folds[KW_FOLD_SUM][plan->lane].finish_each(lanes, squares, 1, width);
  kw_lanes_fill_number(divisors, run->divisor, plan->lane, width);
  run->isa->pointwise[KW_POINTWISE_DIV][plan->lane](lanes, (const void *[]){lanes, divisors}, width);
  kw_port_write(&plan->outs[0], at[0], kept->step[0][kept->rank - 1], lanes, width);
  if (plan->out_count > 1) kw_port_write(&plan->outs[1], at[1], kept->step[1][kept->rank - 1], means, width);
}

static void run_tasks(void *user, int64_t begin, int64_t end) {
  const variance_run *run = user;
  const variance_plan *plan = run->plan;
  const int64_t size = kw_lane_size(plan->lane);
  measured m;
  m.run = run;
  m.sum = &run->isa->folds[KW_FOLD_SUM][plan->lane];
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&plan->walk.cut, i);
    char *at[3];
    kw_loop_find(&plan->walk.kept, run->base, task.result, at);
    if (run->totals) {
      if (run->of_squares) memcpy(m.means, run->means + task.result * size, (size_t)(task.width * size));
      measure(&m, at[plan->out_count], &task, run->of_squares);
      for (int64_t k = 0; k < task.width; k++) {
        run->totals[(task.result + k) * plan->walk.cut.pieces + task.piece] = m.totals[k];
      }
    } else {
      measure(&m, at[plan->out_count], &task, false);
      m.sum->finish_each(m.means, m.totals, plan->walk.folded.numel, task.width);
      measure(&m, at[plan->out_count], &task, true);
      store(run, task.result, m.totals, m.means, task.width);
    }
  }
}

/* The sums of all pieces, each result's in its first piece. */
static kw_status run_pieces(const kw_host_api *host, variance_run *run, bool of_squares) {
  const kw_reduction *walk = &run->plan->walk;
  run->of_squares = of_squares;
  const kw_status status = host->parallel_for(host->ctx, walk->cut.tasks, walk->cut.grain, run_tasks, run);
  for (int64_t result = 0; result < walk->kept.numel; result++) {
    kw_total *pieces = run->totals + result * walk->cut.pieces;
    for (int64_t k = 1; k < walk->cut.pieces; k++) {
      run->isa->folds[KW_FOLD_SUM][run->plan->lane].merge(&pieces[0], &pieces[k]);
    }
  }
  return status;
}

static kw_status run_in_pieces(const kw_host_api *host, variance_run *run) {
  const variance_plan *plan = run->plan;
  const kw_reduction *walk = &plan->walk;
  const int64_t size = kw_lane_size(plan->lane), pieces = walk->cut.pieces;
  kw_status status = run_pieces(host, run, false);
  for (int64_t result = 0; result < walk->kept.numel; result++) {
    run->isa->folds[KW_FOLD_SUM][plan->lane].finish(run->means + result * size, &run->totals[result * pieces],
                                                    walk->folded.numel);
  }
  if (status == KW_OK) status = run_pieces(host, run, true);
  for (int64_t result = 0; status == KW_OK && result < walk->kept.numel; result++) {
    store(run, result, &run->totals[result * pieces], run->means + result * size, 1);
  }
  return status;
}

static kw_status run_variance(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const variance_plan *plan = the_plan;
  const kw_cut *cut = &plan->walk.cut;
  const double count = (double)plan->walk.folded.numel, correction = kw_norm_number(&call->args[2], 1);
  variance_run run = {.plan = plan, .isa = kw_fast_isa(), .divisor = count > correction ? count - correction : 0};
  for (uint32_t k = 0; k < plan->out_count; k++) run.base[k] = kw_walk_base(call->outs[k]);
  run.base[plan->out_count] = kw_walk_base(call->args[0].u.tensor);
  if (cut->pieces == 1) return host->parallel_for(host->ctx, cut->tasks, cut->grain, run_tasks, &run);
  const size_t results = (size_t)plan->walk.kept.numel;
  run.totals = calloc(results * (size_t)cut->pieces, sizeof *run.totals);
  run.means = calloc(results, KW_LANE_BYTES);
  const kw_status status = run.totals && run.means ? run_in_pieces(host, &run) : KW_ERR_OUT_OF_MEMORY;
  free(run.totals);
  free(run.means);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define VARIANCE(name)                                                                                     \
  {                                                                                                        \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(variance_plan), .make_plan = plan_variance, \
    .run = run_variance                                                                                    \
  }

static const kw_fast_kernel kernels[] = {VARIANCE("var.correction"), VARIANCE("var_mean.correction")};

kw_fast_family kw_fast_variances(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

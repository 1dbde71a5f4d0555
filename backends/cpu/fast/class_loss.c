/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses over classes that index tensors choose, and their gradients. A place is what one index chooses the class of.
 */
#include "cut.h"
#include "fast.h"

#include "dims.h"
#include "index.h"
#include "loop.h"
#include "operand.h"
#include "sizes.h"
#include "strided.h"
#include "walk.h"

#include <math.h>
#include <string.h>

#define AHEAD 16            /* places whose elements are asked for before they are needed */
#define FETCHED_FROM 262144 /* bytes of classes that are not in the nearer caches */

/* Operands of the places: what is read or written of the first class, the index, and the loss or its gradient. */
enum { CLASSES, TARGET, LOSS, OPERANDS };

typedef struct class_plan {
  kw_loop places;
  kw_cut cut;
  kw_port classes, loss, weight;
  bool has_weight, is_i64;
  bool is_plain;                          /* f32 chosen by i64, without weights */
  bool fetches;                           /* classes are not in the nearer caches */
  int64_t count, class_step, weight_step; /* of classes; bytes */
} class_plan;
_Static_assert(sizeof(class_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* `classes` has the classes along dimension 1, or its only one; `loss` is NULL where the places have one together. */
static kw_status make_plan(const kw_call *call, uint32_t target, const kw_tensor_ref *classes,
                           const kw_tensor_ref *loss, class_plan *plan) {
  const kw_tensor_ref *index = call->args[target].u.tensor;
  const kw_value *weight = &call->args[target + 1];
  const uint32_t along = classes->rank > 1;
  const kw_tensor_ref first = kw_dims_keep(classes, ((1u << classes->rank) - 1) & ~(1u << along));
  const kw_lane lane = kw_lane_of(classes->dtype);
  if (!kw_index_is_index(call, target)) return KW_ERR_NOT_IMPLEMENTED;
  plan->has_weight = weight->tag == KW_TAG_TENSOR;
  if (plan->has_weight && !kw_port_open(&plan->weight, weight->u.tensor->dtype, lane)) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_port_open(&plan->classes, classes->dtype, lane)) return KW_ERR_NOT_IMPLEMENTED;
  if (loss && !kw_port_open(&plan->loss, loss->dtype, lane)) return KW_ERR_NOT_IMPLEMENTED;
  if (plan->has_weight) plan->weight_step = kw_loop_step(weight->u.tensor, 0);
  plan->is_i64 = index->dtype == KW_I64;
  plan->is_plain = plan->is_i64 && classes->dtype == KW_F32 && !plan->has_weight;
  plan->fetches = classes->numel * plan->classes.size > FETCHED_FROM;
  plan->count = classes->shape[along];
  plan->class_step = kw_loop_step(classes, along);
  kw_loop_begin(&plan->places, &first);
  kw_loop_add(&plan->places, index);
  if (loss) kw_loop_add(&plan->places, loss);
  kw_loop_make(&plan->places);
  if (plan->places.numel == 0) return KW_ERR_NOT_IMPLEMENTED;
  kw_cut_make(&plan->cut, 1, 1, plan->places.numel);
  return KW_OK;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* What a place or a piece of them has lost. */
typedef struct class_sum {
  double losses, weights;
} class_sum;

typedef struct class_run {
  const kw_call *call;
  const class_plan *plan;
  uint32_t target; /* the argument */
  int64_t ignored;
  double divisor;     /* of gradients */
  double smoothing;   /* of cross entropies */
  const char *weight; /* of class 0 */
  char *base[OPERANDS];
  class_sum *sums; /* of the pieces, or of the places */
} class_run;

static inline double load(const kw_port *port, const char *at) {
  if (port->dtype == KW_F32) return (double)*(const float *)(const void *)at;
  return port->dtype == KW_F64 ? *(const double *)(const void *)at : kw_number_load(port->dtype, at);
}

static inline void store(const kw_port *port, char *at, double value) {
  if (port->dtype == KW_F32) {
    *(float *)(void *)at = (float)value;
  } else {
    kw_number_store(port->dtype, at, value);
  }
}

static inline int64_t index_at(const class_run *run, const char *index) {
  return run->plan->is_i64 ? *(const int64_t *)(const void *)index : *(const int32_t *)(const void *)index;
}

/* The class of a place; -1 where it has none, or one that there is not. */
static inline int64_t class_of(const class_run *run, const char *index) {
  const int64_t class = index_at(run, index);
  if (class == run->ignored) return -1;
  if (class >= 0 && class < run->plan->count) return class;
  kw_selection_blame(run->call, run->target);
  return -1;
}

static inline double weight_of(const class_run *run, int64_t class) {
  return run->plan->has_weight ? load(&run->plan->weight, run->weight + class * run->plan->weight_step) : 1;
}

/* A run over the places of a call whose arguments from `target` on are: target, weight, reduction, ignore_index. */
static class_run start(const kw_call *call, const class_plan *plan, uint32_t target) {
  class_run run = {.call = call, .plan = plan, .target = target, .ignored = call->args[target + 3].u.i, .divisor = 1};
  if (plan->has_weight) run.weight = kw_walk_base(call->args[target + 1].u.tensor);
  run.base[TARGET] = kw_walk_base(call->args[target].u.tensor);
  return run;
}

static kw_status visit(const kw_host_api *host, class_run *run, kw_range_fn places) {
  return host->parallel_for(host->ctx, run->plan->places.numel, KW_CUT_GRAIN, places, run);
}

/* ---- nll_loss_forward -------------------------------------------------------------------------------------------- */

/* Arguments: self, target, weight, reduction, ignore_index. */
static kw_status plan_forward(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  const bool is_none = call->args[3].u.i == KW_REDUCE_NONE;
  return make_plan(call, 1, call->args[0].u.tensor, is_none ? call->outs[0] : NULL, plan);
}

/* The loss of a place. */
static inline double loss_of(const class_run *run, const char *classes, int64_t class, double weight) {
  return -load(&run->plan->classes, classes + class * run->plan->class_step) * weight;
}

/* Processors do not foresee which class comes next, so its element is asked for before. */
static inline void fetch(const class_run *run, char *const *at, const int64_t *step, int64_t i) {
  const int64_t class = index_at(run, at[TARGET] + i * step[TARGET]);
  if (class < 0 || class >= run->plan->count) return;
  __builtin_prefetch(at[CLASSES] + i * step[CLASSES] + class * run->plan->class_step);
}

typedef struct class_piece {
  const class_run *run;
  long double losses, weights; /* bounds grow less than the number of terms, and terms that are alike err alike */
} class_piece;

/* Places [begin, end) of a row, few enough to be added up in double. */
static void add_places(class_piece *piece, char *const *at, const int64_t *step, int64_t begin, int64_t end) {
  const class_run *run = piece->run;
  double losses = 0, weights = 0;
  for (int64_t i = begin; i < end; i++) {
    const int64_t class = class_of(run, at[TARGET] + i * step[TARGET]);
    if (class < 0) continue;
    const double weight = weight_of(run, class);
    losses += loss_of(run, at[CLASSES] + i * step[CLASSES], class, weight);
    weights += weight;
  }
  piece->losses += losses;
  piece->weights += weights;
}

/* The same where what is chosen, and by what, is most common. */
static void add_plain_places(class_piece *piece, char *const *at, const int64_t *step, int64_t begin, int64_t end) {
  const class_run *run = piece->run;
  const int64_t count = run->plan->count, class_step = run->plan->class_step, ignored = run->ignored;
  double losses = 0;
  int64_t taken = 0;
  for (int64_t i = begin; i < end; i++) {
    const int64_t class = *(const int64_t *)(const void *)(at[TARGET] + i * step[TARGET]);
    if ((uint64_t) class >= (uint64_t)count || class == ignored) {
      class_of(run, at[TARGET] + i * step[TARGET]); /* says what is wrong with it */
      continue;
    }
    losses -= (double)*(const float *)(const void *)(at[CLASSES] + i * step[CLASSES] + class * class_step);
    taken++;
  }
  piece->losses += losses;
  piece->weights += (double)taken;
}

static void add_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  class_piece *piece = context;
  const class_plan *plan = piece->run->plan;
  for (int64_t begin = 0; begin < n; begin += AHEAD) {
    const int64_t end = kw_least(begin + AHEAD, n);
    for (int64_t i = end; plan->fetches && i < kw_least(end + AHEAD, n); i++) fetch(piece->run, at, step, i);
    (plan->is_plain ? add_plain_places : add_places)(piece, at, step, begin, end);
  }
}

static void add_pieces(void *user, int64_t begin, int64_t end) {
  const class_run *run = user;
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&run->plan->cut, i);
    class_piece piece = {.run = run};
    kw_loop_run(&run->plan->places, run->base, task.begin, task.end, add_row, &piece);
    run->sums[i] = (class_sum){(double)piece.losses, (double)piece.weights};
  }
}

static void lose_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const class_run *run = context;
  for (int64_t i = 0; i < n; i++) {
    const int64_t class = class_of(run, at[TARGET] + i * step[TARGET]);
    const char *classes = at[CLASSES] + i * step[CLASSES];
    const double loss = class < 0 ? 0 : loss_of(run, classes, class, weight_of(run, class));
    store(&run->plan->loss, at[LOSS] + i * step[LOSS], loss);
  }
}

static void lose_each(void *user, int64_t begin, int64_t end) {
  const class_run *run = user;
  kw_loop_run(&run->plan->places, run->base, begin, end, lose_row, user);
}

static class_sum add_sums(const class_sum *sums, int64_t n) {
  class_piece all = {.losses = 0};
  for (int64_t i = 0; i < n; i++) {
    all.losses += sums[i].losses;
    all.weights += sums[i].weights;
  }
  return (class_sum){(double)all.losses, (double)all.weights};
}

/* What the losses are together, by `reduction`, argument 3. */
static void store_loss(const kw_call *call, const class_sum *all) {
  const kw_tensor_ref *loss = call->outs[0];
  const bool is_mean = call->args[3].u.i == KW_REDUCE_MEAN;
  kw_number_store(loss->dtype, kw_walk_base(loss), is_mean ? all->losses / all->weights : all->losses);
}

static kw_status run_forward(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const class_plan *plan = the_plan;
  const kw_tensor_ref *loss = call->outs[0], *total_weight = call->outs[1];
  class_run run = start(call, plan, 1);
  run.base[CLASSES] = kw_walk_base(call->args[0].u.tensor);
  run.base[LOSS] = kw_walk_base(loss);
  if (call->args[3].u.i == KW_REDUCE_NONE) {
    kw_number_store(total_weight->dtype, kw_walk_base(total_weight), 0);
    return visit(host, &run, lose_each);
  }
  class_sum sums[KW_CUT_PIECES];
  run.sums = sums;
  const kw_status status = host->parallel_for(host->ctx, plan->cut.tasks, plan->cut.grain, add_pieces, &run);
  if (status != KW_OK) return status;
  const class_sum all = add_sums(sums, plan->cut.pieces);
  store_loss(call, &all);
  kw_number_store(total_weight->dtype, kw_walk_base(total_weight), all.weights);
  return KW_OK;
}

/* ---- cross_entropy_loss ------------------------------------------------------------------------------------------ */

/* The scores of a place are measured as softmax does it: the largest, and the sum of the powers. */
typedef struct class_scores {
  const class_run *run;
  const char *at;
  double top, log_sum;
  _Alignas(KW_LANE_BYTES) char top_lane[KW_LANE_BYTES], sum_lane[KW_LANE_BYTES];
  _Alignas(64) char lanes[KW_LANE_BLOCK * KW_LANE_BYTES], weights[KW_LANE_BLOCK * KW_LANE_BYTES];
} class_scores;

static const void *score_lanes(class_scores *scores, int64_t i, int64_t count) {
  const class_plan *plan = scores->run->plan;
  return kw_port_lanes(&plan->classes, scores->at + i * plan->class_step, plan->class_step, count, scores->lanes);
}

static double lane_number(kw_lane lane, const char *at) {
  return lane == KW_LANE_F32 ? (double)*(const float *)(const void *)at : *(const double *)(const void *)at;
}

static void measure_scores(class_scores *scores) {
  const kw_lane lane = scores->run->plan->classes.lane;
  const kw_fold *max = &kw_fast_isa()->folds[KW_FOLD_MAX][lane], *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][lane];
  const int64_t n = scores->run->plan->count;
  kw_total total;
  max->start(&total);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    max->fold(&total, score_lanes(scores, i, kw_block_at(i, n)), kw_block_at(i, n));
  }
  max->finish(scores->top_lane, &total, 1);
  sum->start(&total);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    kw_fast_isa()->rows[lane].exp_below(scores->lanes, score_lanes(scores, i, count), scores->top_lane, count);
    sum->fold(&total, scores->lanes, count);
  }
  sum->finish(scores->sum_lane, &total, 1);
  scores->top = lane_number(lane, scores->top_lane);
  scores->log_sum = log(lane_number(lane, scores->sum_lane));
}

/* The sum of log_softmax over all classes, times their weights. */
static double sum_classes(class_scores *scores) {
  const class_plan *plan = scores->run->plan;
  const kw_lane lane = plan->classes.lane;
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][lane];
  const kw_row_lanes *of = &kw_fast_isa()->rows[lane];
  _Alignas(KW_LANE_BYTES) char result[KW_LANE_BYTES];
  kw_total total;
  sum->start(&total);
  for (int64_t i = 0; i < plan->count; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, plan->count);
    const void *x = score_lanes(scores, i, count);
    of->log_share(scores->lanes, x, scores->top_lane, scores->sum_lane, count);
    if (plan->has_weight) {
      const char *weight = scores->run->weight + i * plan->weight_step;
      of->add_products(&total, scores->lanes,
                       kw_port_lanes(&plan->weight, weight, plan->weight_step, count, scores->weights), count);
    } else {
      sum->fold(&total, scores->lanes, count);
    }
  }
  sum->finish(result, &total, 1);
  return lane_number(lane, result);
}

/* The loss of a place whose class has a weight. */
static double entropy_of(class_scores *scores, int64_t class, double weight) {
  const class_run *run = scores->run;
  double loss = 0;
  measure_scores(scores);
  if (run->smoothing < 1) { /* where it is 1 the class has no more say than others, be its score infinite */
    const double score = load(&run->plan->classes, scores->at + class * run->plan->class_step);
    loss -= (1 - run->smoothing) * weight * (score - scores->top - scores->log_sum);
  }
  if (run->smoothing > 0) loss -= run->smoothing / (double)run->plan->count * sum_classes(scores);
  return loss;
}

static void measure_places(void *user, int64_t begin, int64_t end) {
  const class_run *run = user;
  class_scores scores = {.run = run};
  for (int64_t i = begin; i < end; i++) {
    char *at[KW_LOOP_OPERANDS];
    kw_loop_find(&run->plan->places, run->base, i, at);
    const int64_t class = class_of(run, at[TARGET]);
    scores.at = at[CLASSES];
    const double weight = class < 0 ? 0 : weight_of(run, class);
    const double loss = class < 0 ? 0 : entropy_of(&scores, class, weight);
    if (run->sums) {
      run->sums[i] = (class_sum){loss, weight};
    } else {
      store(&run->plan->loss, at[LOSS], loss);
    }
  }
}

/* Arguments: self, target, weight, reduction, ignore_index, label_smoothing. */
static kw_status run_entropy(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const class_plan *plan = the_plan;
  const int64_t places = plan->places.numel, grain = 1 + KW_CUT_GRAIN / plan->count;
  class_run run = start(call, plan, 1);
  run.smoothing = call->args[5].u.f;
  run.base[CLASSES] = kw_walk_base(call->args[0].u.tensor);
  run.base[LOSS] = kw_walk_base(call->outs[0]);
  if (call->args[3].u.i == KW_REDUCE_NONE) return host->parallel_for(host->ctx, places, grain, measure_places, &run);
  void *room;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)places * sizeof(class_sum), sizeof(double), &room);
  if (status != KW_OK) return status;
  run.sums = room;
  status = host->parallel_for(host->ctx, places, grain, measure_places, &run);
  if (status == KW_OK) {
    const class_sum all = add_sums(run.sums, places);
    store_loss(call, &all);
  }
  host->host_free(host->ctx, room);
  return status;
}

/* ---- nll_loss_backward ------------------------------------------------------------------------------------------- */

/* Arguments: grad_output, self, target, weight, reduction, ignore_index, total_weight. The operand `loss` is the
 * gradient of the losses, of each or of all. */
static kw_status plan_backward(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  return make_plan(call, 2, call->outs[0], call->args[0].u.tensor, plan);
}

static void slope_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const class_run *run = context;
  const class_plan *plan = run->plan;
  for (int64_t i = 0; i < n; i++) {
    const int64_t class = class_of(run, at[TARGET] + i * step[TARGET]);
    if (class < 0) continue;
    const double slope = load(&plan->loss, at[LOSS] + i * step[LOSS]) / run->divisor;
    store(&plan->classes, at[CLASSES] + i * step[CLASSES] + class * plan->class_step, slope * -weight_of(run, class));
  }
}

static void slope_each(void *user, int64_t begin, int64_t end) {
  const class_run *run = user;
  kw_loop_run(&run->plan->places, run->base, begin, end, slope_row, user);
}

static kw_status run_backward(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *total_weight = call->args[6].u.tensor;
  const kw_status status = kw_strided_clear(host, call->outs[0]);
  if (status != KW_OK) return status;
  class_run run = start(call, plan, 2);
  run.base[CLASSES] = kw_walk_base(call->outs[0]);
  run.base[LOSS] = kw_walk_base(call->args[0].u.tensor);
  const bool is_mean = call->args[4].u.i == KW_REDUCE_MEAN;
  if (is_mean) run.divisor = kw_number_load(total_weight->dtype, kw_walk_base(total_weight));
  return visit(host, &run, slope_each);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define CLASS_LOSS(name, planner, runner)                                                                   \
  {                                                                                                         \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .flags = KW_KERNEL_DATA_ERRORS, .plan_size = sizeof(class_plan), \
    .make_plan = plan_##planner, .run = run_##runner                                                        \
  }

static const kw_fast_kernel kernels[] = {
    CLASS_LOSS("nll_loss_forward", forward, forward),    CLASS_LOSS("nll_loss2d_forward", forward, forward),
    CLASS_LOSS("nll_loss_backward", backward, backward), CLASS_LOSS("nll_loss2d_backward", backward, backward),
    CLASS_LOSS("cross_entropy_loss", forward, entropy),
};

kw_fast_family kw_fast_class_losses(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

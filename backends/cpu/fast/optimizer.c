/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimisers, and what is done to gradients before them: lists of tensors whose elements go together in blocks. The
 * blocks of all tensors share one loop. Tensors have to be dense, in whatever order of their dimensions.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "walk.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BLOCK 16384 /* elements of a tensor that a task takes */

typedef enum list_kind {
  LIST_SGD,
  LIST_ADAM,
  LIST_ADAMW,
  LIST_UNSCALE, /* gradients are multiplied, and looked at whether all are finite */
  LIST_CLIP,    /* gradients are measured together, and then multiplied */
} list_kind;

typedef struct list_op {
  list_kind kind;
  uint32_t lists; /* the first arguments; the last one may have no entries */
} list_op;

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* How many of the lists have entries. */
static uint32_t lists_given(const list_op *op, const kw_call *call) {
  return call->args[op->lists - 1].count > 0 ? op->lists : op->lists - 1;
}

static const kw_tensor_ref *entry_of(const kw_call *call, uint32_t list, uint32_t entry) {
  return call->args[list].u.tensors[entry];
}

/* Whether the tensors of an entry are dense, with their elements in one order, and become lanes. */
static bool serves_entry(const kw_call *call, uint32_t lists, uint32_t entry) {
  const kw_tensor_ref *first = entry_of(call, 0, entry);
  const kw_lane lane = kw_lane_of(first->dtype);
  kw_loop loop;
  kw_loop_begin(&loop, first);
  for (uint32_t j = 0; j < lists; j++) {
    kw_port port;
    if (!kw_port_open(&port, entry_of(call, j, entry)->dtype, lane)) return false;
    if (j > 0) kw_loop_add(&loop, entry_of(call, j, entry));
  }
  kw_loop_make(&loop);
  if (loop.numel <= 1) return true;
  for (uint32_t j = 0; j < lists; j++) {
    const int64_t size = (int64_t)kw_number_size(entry_of(call, j, entry)->dtype);
    if (loop.rank > 1 || loop.step[j][0] != size) return false;
  }
  return true;
}

/* What is measured of all entries together is of one lane type. */
static bool share_lanes(const kw_call *call) {
  for (uint32_t k = 1; k < call->args[0].count; k++) {
    if (kw_lane_of(entry_of(call, 0, k)->dtype) != kw_lane_of(entry_of(call, 0, 0)->dtype)) return false;
  }
  return true;
}

/* A norm that needs no powers. */
static bool serves_norm(const kw_call *call) {
  const double p = call->args[2].u.f;
  return call->args[0].count > 0 && kw_lane_of(entry_of(call, 0, 0)->dtype) == kw_lane_of(call->outs[0]->dtype) &&
         (p == 1 || p == 2 || p > DBL_MAX);
}

static kw_status plan_lists(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const list_op *op = kernel->family;
  (void)plan;
  if (op->kind > LIST_ADAMW && !share_lanes(call)) return KW_ERR_NOT_IMPLEMENTED;
  if (op->kind == LIST_CLIP && !serves_norm(call)) return KW_ERR_NOT_IMPLEMENTED;
  const uint32_t lists = lists_given(op, call);
  for (uint32_t k = 0; k < call->args[0].count; k++) {
    if (!serves_entry(call, lists, k)) return KW_ERR_NOT_IMPLEMENTED;
  }
  return KW_OK;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

typedef struct list_run {
  const kw_call *call;
  list_kind kind;
  uint32_t lists;
  kw_step step; /* as far as all tensors share it */
  bool measures;
  double norm, factor;
  kw_total *totals; /* of the blocks: norms, and whether all elements are finite */
} list_run;

/* Lanes of a part of a block. */
typedef struct list_lanes {
  kw_port ports[KW_STEP_LISTS];
  char *at[KW_STEP_LISTS];
  _Alignas(64) char lanes[KW_STEP_LISTS][KW_LANE_BLOCK * KW_LANE_BYTES];
} list_lanes;

static int64_t blocks_of(const kw_tensor_ref *tensor) {
  return (tensor->numel + BLOCK - 1) / BLOCK;
}

/* 1 - beta^step, but where beta^step is close to 1 not by that difference, which would lose most digits. */
static double bias_correction(double beta, double step) {
  return beta > 0 ? 0 - expm1(step * log(beta)) : 1 - pow(beta, step);
}

static double single(const kw_tensor_ref *tensor) {
  return kw_number_load(tensor->dtype, kw_walk_base(tensor));
}

/* Which of the lists a block changes, as a mask. */
static uint32_t changed_lists(const list_run *run) {
  if (run->kind == LIST_SGD) return 1u | (run->step.is_scaled ? 2u : 0) | (run->step.momentum != 0 ? 4u : 0);
  if (run->kind > LIST_ADAMW) return 1;
  return 13u | (run->step.is_scaled ? 2u : 0) | (run->step.amsgrad ? 16u : 0);
}

static kw_step step_of(const list_run *run, uint32_t entry) {
  const kw_value *args = run->call->args;
  kw_step step = run->step;
  if (run->kind == LIST_SGD) return step;
  const double number = single(args[5].u.tensors[entry]);
  step.size = step.rate / bias_correction(args[7].u.f, number);
  step.root_bias = sqrt(bias_correction(args[8].u.f, number));
  return step;
}

/* Adds what is measured of n lanes to a total. */
static void measure(const list_run *run, kw_lane lane, void *x, void *buffer, int64_t n, kw_total *total) {
  static const double zero = 0;
  const kw_isa *isa = kw_fast_isa();
  const void *twice[] = {x, x};
  if (run->kind == LIST_UNSCALE) {
    isa->pointwise[KW_POINTWISE_SUB][lane](buffer, twice, n); /* 0, or NaN */
    isa->folds[KW_FOLD_SUM][lane].fold(total, buffer, n);
  } else if (run->norm == 2) {
    isa->rows[lane].add_squares(total, x, &zero, n);
  } else {
    isa->pointwise[KW_POINTWISE_ABS][lane](buffer, twice, n);
    isa->folds[run->norm == 1 ? KW_FOLD_SUM : KW_FOLD_MAX][lane].fold(total, buffer, n);
  }
}

static const kw_fold *fold_of(const list_run *run, kw_lane lane) {
  return &kw_fast_isa()->folds[run->kind == LIST_CLIP && run->norm > 2 ? KW_FOLD_MAX : KW_FOLD_SUM][lane];
}

static void compute(const list_run *run, kw_lane lane, const kw_step *step, void *const *x, int64_t n,
                    const void *factor) {
  const kw_isa *isa = kw_fast_isa();
  switch (run->kind) {
    case LIST_SGD:
      isa->sgd[lane](step, x, n);
      return;
    case LIST_ADAM:
    case LIST_ADAMW:
      isa->adam[lane](step, x, n);
      return;
    default:
      isa->pointwise[KW_POINTWISE_MUL][lane](x[0], (const void *[]){x[0], factor}, n);
  }
}

/* Elements [begin, end) of an entry, which are a block. */
static void run_block(const list_run *run, uint32_t entry, int64_t begin, int64_t end, kw_total *total,
                      list_lanes *buffers) {
  const kw_lane lane = kw_lane_of(entry_of(run->call, 0, entry)->dtype);
  const bool steps = run->kind <= LIST_ADAMW;
  const kw_step step = steps ? step_of(run, entry) : (kw_step){.scale = 1};
  const uint32_t changed = run->kind == LIST_CLIP && run->measures ? 0 : changed_lists(run);
  void *spare = buffers->lanes[KW_STEP_LISTS - 1]; /* of ops with one list */
  if (total) fold_of(run, lane)->start(total);
  for (uint32_t j = 0; j < run->lists; j++) {
    const kw_tensor_ref *tensor = entry_of(run->call, j, entry);
    kw_port_open(&buffers->ports[j], tensor->dtype, lane);
    buffers->at[j] = kw_walk_base(tensor);
  }
  for (int64_t i = begin; i < end; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, end);
    void *x[KW_STEP_LISTS] = {NULL};
    for (uint32_t j = 0; j < run->lists; j++) {
      const kw_port *port = &buffers->ports[j];
      char *at = buffers->at[j] + i * port->size;
      x[j] = port->is_native ? at : buffers->lanes[j];
      if (!port->is_native) kw_port_read(port, x[j], at, port->size, count);
    }
    if (total) measure(run, lane, x[0], spare, count, total);
    if (changed == 0) continue;
    if (!steps) kw_lanes_fill_number(spare, run->factor, lane, count);
    compute(run, lane, &step, x, count, spare);
    for (uint32_t j = 0; j < run->lists; j++) {
      const kw_port *port = &buffers->ports[j];
      if (port->is_native || !(changed >> j & 1)) continue;
      kw_port_write(port, buffers->at[j] + i * port->size, port->size, x[j], count);
    }
  }
}

static void run_blocks(void *user, int64_t begin, int64_t end) {
  const list_run *run = user;
  list_lanes buffers;
  int64_t first = 0; /* block of the entry */
  for (uint32_t entry = 0; entry < run->call->args[0].count && first < end; entry++) {
    const kw_tensor_ref *tensor = entry_of(run->call, 0, entry);
    const int64_t behind = first + blocks_of(tensor);
    for (int64_t k = begin > first ? begin : first; k < end && k < behind; k++) {
      const int64_t from = (k - first) * BLOCK, left = tensor->numel - from;
      run_block(run, entry, from, from + (left < BLOCK ? left : BLOCK), run->measures ? &run->totals[k] : NULL,
                &buffers);
    }
    first = behind;
  }
}

static int64_t all_blocks(const kw_call *call) {
  int64_t blocks = 0;
  for (uint32_t k = 0; k < call->args[0].count; k++) blocks += blocks_of(entry_of(call, 0, k));
  return blocks;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static double optional(const kw_value *value, double otherwise) {
  return value->tag == KW_TAG_TENSOR ? single(value->u.tensor) : otherwise;
}

static kw_status run_sgd(const kw_host_api *host, const kw_call *call, list_run *run) {
  const kw_value *args = call->args;
  run->step = (kw_step){.is_scaled = args[10].tag == KW_TAG_TENSOR,
                        .scale = optional(&args[10], 1),
                        .maximize = args[8].u.b,
                        .nesterov = args[7].u.b,
                        .is_first = args[9].u.b,
                        .rate = args[5].u.f,
                        .decay = args[3].u.f,
                        .momentum = args[4].u.f,
                        .undamped = 1 - args[6].u.f};
  if (optional(&args[11], 0) != 0) return KW_OK;
  return host->parallel_for(host->ctx, all_blocks(call), 1, run_blocks, run);
}

static kw_status run_adam(const kw_host_api *host, const kw_call *call, list_run *run) {
  const kw_value *args = call->args;
  run->step = (kw_step){.is_scaled = args[13].tag == KW_TAG_TENSOR,
                        .scale = optional(&args[13], 1),
                        .maximize = args[12].u.b,
                        .decoupled = run->kind == LIST_ADAMW,
                        .amsgrad = args[11].u.b,
                        .rate = args[6].u.f,
                        .decay = args[9].u.f,
                        .rate_decay = args[6].u.f * args[9].u.f,
                        .fresh_mean = 1 - args[7].u.f,
                        .kept_square = args[8].u.f,
                        .fresh_square = 1 - args[8].u.f,
                        .least = args[10].u.f};
  if (optional(&args[14], 0) != 0) return KW_OK;
  return host->parallel_for(host->ctx, all_blocks(call), 1, run_blocks, run);
}

/* Runs blocks that measure, and merges what they have measured into *out, a lane. */
static kw_status run_measure(const kw_host_api *host, list_run *run, kw_lane lane, void *out) {
  const int64_t blocks = all_blocks(run->call);
  const kw_fold *fold = fold_of(run, lane);
  kw_total total;
  void *room = NULL;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)(blocks + 1) * sizeof total, 64, &room);
  if (status != KW_OK) return status;
  run->totals = room;
  run->measures = true;
  status = host->parallel_for(host->ctx, blocks, 1, run_blocks, run);
  run->measures = false;
  fold->start(&total);
  for (int64_t k = 0; k < blocks && status == KW_OK; k++) fold->merge(&total, &run->totals[k]);
  fold->finish(out, &total, 1);
  host->host_free(host->ctx, room);
  return status;
}

static double lane_number(const void *lane, kw_lane type) {
  return kw_number_load(type == KW_LANE_F32 ? KW_F32 : KW_F64, lane);
}

static kw_status run_unscale(const kw_host_api *host, const kw_call *call, list_run *run) {
  const kw_tensor_ref *found = call->args[1].u.tensor;
  _Alignas(8) char lane[KW_LANE_BYTES];
  run->factor = single(call->args[2].u.tensor);
  if (call->args[0].count == 0) return KW_OK;
  const kw_lane type = kw_lane_of(entry_of(call, 0, 0)->dtype);
  const kw_status status = run_measure(host, run, type, lane);
  if (status == KW_OK && isnan(lane_number(lane, type))) kw_number_store(found->dtype, kw_walk_base(found), 1);
  return status;
}

static kw_status run_clip(const kw_host_api *host, const kw_call *call, list_run *run) {
  const kw_tensor_ref *out = call->outs[0];
  const kw_lane type = kw_lane_of(out->dtype);
  _Alignas(8) char lane[KW_LANE_BYTES];
  run->norm = call->args[2].u.f;
  const kw_status status = run_measure(host, run, type, lane);
  if (status != KW_OK) return status;
  if (run->norm > 2 && lane_number(lane, type) < 0) kw_lanes_fill_number(lane, 0, type, 1); /* of no elements */
  if (run->norm == 2) kw_fast_isa()->pointwise[KW_POINTWISE_SQRT][type](lane, (const void *[]){lane}, 1);
  const double norm = lane_number(lane, type);
  kw_number_store(out->dtype, kw_walk_base(out), norm);
  run->factor = call->args[1].u.f / (norm + 1e-6);
  if (run->factor >= 1) return KW_OK;
  return host->parallel_for(host->ctx, all_blocks(call), 1, run_blocks, run);
}

static kw_status run_lists(const kw_host_api *host, const kw_call *call, const void *plan) {
  const list_op *op = ((const kw_fast_kernel *)call->user)->family;
  list_run run = {.call = call, .kind = op->kind, .lists = lists_given(op, call)};
  (void)plan;
  switch (op->kind) {
    case LIST_SGD:
      return run_sgd(host, call, &run);
    case LIST_ADAM:
    case LIST_ADAMW:
      return run_adam(host, call, &run);
    case LIST_UNSCALE:
      return run_unscale(host, call, &run);
    default:
      return run_clip(host, call, &run);
  }
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define LISTS(name, kind, lists)                                                                             \
  {                                                                                                          \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .family = &(const list_op){kind, lists}, .make_plan = plan_lists, \
    .run = run_lists                                                                                         \
  }

static const kw_fast_kernel kernels[] = {
    LISTS("_fused_sgd_", LIST_SGD, 3),
    LISTS("_fused_adam_", LIST_ADAM, 5),
    LISTS("_fused_adamw_", LIST_ADAMW, 5),
    LISTS("_amp_foreach_non_finite_check_and_unscale_", LIST_UNSCALE, 1),
    LISTS("keyway::clip_grad_norm_", LIST_CLIP, 1),
};

kw_fast_family kw_fast_optimizers(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

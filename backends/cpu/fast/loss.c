/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses element by element, and what their reduction makes of these: the elements of a block are added up while they
 * are near.
 */
#include "cut.h"
#include "fast.h"

#include "loop.h"
#include "operand.h"
#include "walk.h"

#include <string.h>

/* The operands are the op's first arguments: tensors, or none, which stands for 1. Behind them stands the reduction,
 * and the function may have one more operand, a number. */
typedef struct loss_op {
  kw_pointwise_fn function;
  uint32_t tensors;
  enum { NO_NUMBER, DELTA, SLOPE } number; /* DELTA: the last argument; SLOPE: of the square, as the reduction says */
  bool is_backward;                        /* the reduction is that of the forward */
} loss_op;

typedef struct loss_plan {
  kw_loop loop; /* operand 0 is the result, or where that is one number stands for it */
  kw_lane lane;
  bool folds;
  int64_t divisor;
  kw_cut cut; /* of what is folded */
  uint32_t operands;
  bool is_number[KW_POINTWISE_OPERANDS];
  kw_port out;
  kw_port in[KW_POINTWISE_OPERANDS];
} loss_plan;
_Static_assert(sizeof(loss_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* A tensor of the shape that the operands have together. */
static kw_tensor_ref joined(const loss_op *op, const kw_call *call) {
  const kw_tensor_ref *given[KW_POINTWISE_OPERANDS] = {NULL};
  for (uint32_t k = 0; k < op->tensors; k++) {
    if (call->args[k].tag == KW_TAG_TENSOR) given[k] = call->args[k].u.tensor;
  }
  kw_tensor_ref shape = {.dtype = call->outs[0]->dtype};
  shape.rank = (uint8_t)kw_walk_join(given, op->tensors, shape.shape);
  return shape;
}

static kw_status plan_loss(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const loss_op *op = kernel->family;
  const kw_tensor_ref *out = call->outs[0];
  const int64_t reduction = call->args[op->tensors].u.i;
  loss_plan *plan = out_plan;
  plan->lane = kw_lane_of(out->dtype);
  plan->folds = !op->is_backward && reduction != KW_REDUCE_NONE;
  plan->operands = op->tensors + (op->number != NO_NUMBER);
  const kw_tensor_ref shape = plan->folds ? joined(op, call) : *out;
  kw_loop_begin(&plan->loop, &shape);
  for (uint32_t k = 0; k < plan->operands; k++) {
    plan->is_number[k] = k >= op->tensors || call->args[k].tag != KW_TAG_TENSOR;
    if (plan->is_number[k]) {
      kw_loop_add_constant(&plan->loop);
    } else {
      const kw_tensor_ref *tensor = call->args[k].u.tensor;
      if (tensor->dtype != out->dtype) return KW_ERR_NOT_IMPLEMENTED;
      if (!kw_port_open(&plan->in[k], tensor->dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
      kw_loop_add(&plan->loop, tensor);
    }
  }
  kw_loop_make(&plan->loop);
  if (plan->loop.numel == 0) return KW_ERR_NOT_IMPLEMENTED;
  plan->divisor = reduction == KW_REDUCE_MEAN ? plan->loop.numel : 1;
  kw_cut_make(&plan->cut, 1, 1, plan->loop.numel);
  return kw_port_open(&plan->out, out->dtype, plan->lane) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct loss_run {
  const loss_plan *plan;
  kw_lanes_fn function;
  char *base[KW_POINTWISE_OPERANDS + 1];
  double numbers[KW_POINTWISE_OPERANDS];
  kw_total *totals; /* of the pieces */
} loss_run;

/* Lanes for a thread, and the sum of what it computes. */
typedef struct loss_lanes {
  const loss_run *run;
  kw_total total;
  _Alignas(64) char in[KW_POINTWISE_OPERANDS][KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char out[KW_LANE_BLOCK * KW_LANE_BYTES];
} loss_lanes;

static void run_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  loss_lanes *lanes = context;
  const loss_plan *plan = lanes->run->plan;
  const bool stays = !plan->folds && kw_port_is_lanes(&plan->out, step[0]);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const void *in[KW_POINTWISE_OPERANDS];
    for (uint32_t k = 0; k < plan->operands; k++) {
      const int64_t by = step[k + 1];
      in[k] =
          plan->is_number[k] ? lanes->in[k] : kw_port_lanes(&plan->in[k], at[k + 1] + i * by, by, count, lanes->in[k]);
    }
    char *to = at[0] + i * step[0];
    lanes->run->function(stays ? to : lanes->out, in, count);
    if (plan->folds) {
      kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane].fold(&lanes->total, lanes->out, count);
    } else if (!stays) {
      kw_port_write(&plan->out, to, step[0], lanes->out, count);
    }
  }
}

static void fill_numbers(loss_lanes *lanes) {
  const loss_run *run = lanes->run;
  for (uint32_t k = 0; k < run->plan->operands; k++) {
    if (!run->plan->is_number[k]) continue;
    kw_lanes_fill_number(lanes->in[k], run->numbers[k], run->plan->lane, KW_LANE_BLOCK);
  }
}

static void run_elements(void *user, int64_t begin, int64_t end) {
  loss_lanes lanes;
  const loss_run *run = lanes.run = user;
  fill_numbers(&lanes);
  kw_loop_run(&run->plan->loop, run->base, begin, end, run_row, &lanes);
}

static void run_pieces(void *user, int64_t begin, int64_t end) {
  loss_lanes lanes;
  const loss_run *run = lanes.run = user;
  fill_numbers(&lanes);
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&run->plan->cut, i);
    kw_fast_isa()->folds[KW_FOLD_SUM][run->plan->lane].start(&lanes.total);
    kw_loop_run(&run->plan->loop, run->base, task.begin, task.end, run_row, &lanes);
    run->totals[i] = lanes.total;
  }
}

static kw_status fold_losses(const kw_host_api *host, const kw_call *call, loss_run *run) {
  const loss_plan *plan = run->plan;
  const kw_fold *sum = &kw_fast_isa()->folds[KW_FOLD_SUM][plan->lane];
  kw_total totals[KW_CUT_PIECES];
  run->totals = totals;
  const kw_status status = host->parallel_for(host->ctx, plan->cut.tasks, plan->cut.grain, run_pieces, run);
  if (status != KW_OK) return status;
  for (int64_t i = 1; i < plan->cut.pieces; i++) sum->merge(&totals[0], &totals[i]);
  _Alignas(8) char lane[KW_LANE_BYTES];
  sum->finish(lane, &totals[0], plan->divisor);
  kw_port_write(&plan->out, kw_walk_base(call->outs[0]), 0, lane, 1);
  return KW_OK;
}

static kw_status run_loss(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const loss_plan *plan = the_plan;
  const loss_op *op = ((const kw_fast_kernel *)call->user)->family;
  loss_run run = {.plan = plan, .function = kw_fast_isa()->pointwise[op->function][plan->lane]};
  for (uint32_t k = 0; k < op->tensors; k++) {
    run.numbers[k] = 1;
    if (!plan->is_number[k]) run.base[k + 1] = kw_walk_base(call->args[k].u.tensor);
  }
  if (op->number == DELTA) {
    const kw_element delta = kw_operand_scalar(&call->args[op->tensors + 1]);
    run.numbers[op->tensors] = kw_number_load(delta.dtype, delta.bytes);
  }
  if (op->number == SLOPE) run.numbers[op->tensors] = 2.0 / (double)plan->divisor;
  run.base[0] = kw_walk_base(call->outs[0]); /* where a loop that folds stands still */
  if (plan->folds) return fold_losses(host, call, &run);
  return host->parallel_for(host->ctx, plan->loop.numel, KW_CUT_GRAIN, run_elements, &run);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define LOSS(name, fn, count, of_number, backward)                                                                     \
  {                                                                                                                    \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(loss_plan),                                             \
    .family = &(const loss_op){KW_POINTWISE_##fn, count, of_number, backward}, .make_plan = plan_loss, .run = run_loss \
  }

static const kw_fast_kernel kernels[] = {
    LOSS("mse_loss", SQUARED_ERROR, 2, NO_NUMBER, false),
    LOSS("mse_loss_backward", SQUARED_ERROR_SLOPE, 3, SLOPE, true),
    LOSS("huber_loss", HUBER, 2, DELTA, false),
    LOSS("binary_cross_entropy_with_logits", LOGIT_CROSS_ENTROPY, 4, NO_NUMBER, false),
};

kw_fast_family kw_fast_losses(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}

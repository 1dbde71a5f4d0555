/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses over classes: nll_loss, its backward, and cross_entropy_loss.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/reduce.h"
#include "ops/softmax.h"
#include "program/dtype.h"

#include "kernels/class_loss_args.kw"

#define MODULE(name, variants)                 \
  static const kw_gpu_module name##_module = { \
      #name, KW_GPU_BY_DTYPE, variants, {kw_gpu_source_class_loss_args, kw_gpu_source_class_at, kw_gpu_source_##name}}
MODULE(class_loss, KW_DTYPES_FLOAT);
MODULE(class_sum, KW_DTYPES_FLOAT | KW_GPU_VECTORS);
MODULE(class_terms, KW_DTYPES_FLOAT);
MODULE(class_slope, KW_DTYPES_FLOAT);

static const kw_gpu_kernel loss_kernel = {&class_loss_module, "kw_class_loss_kernel"};
static const kw_gpu_kernel sum_kernel = {&class_sum_module, "kw_class_sum_kernel"};
static const kw_gpu_kernel terms_kernel = {&class_terms_module, "kw_class_terms_kernel"};
static const kw_gpu_kernel slope_kernel = {&class_slope_module, "kw_class_slope_kernel"};

enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

/* Classes lie along dimension 1 of the scores, or 0 where these have one dimension. */
static uint32_t class_dim(const kw_tensor_ref *scores) {
  return scores->rank > 1;
}

static kw_class_loss make_block(const kw_tensor_ref *scores, int64_t ignored) {
  uint32_t dim = class_dim(scores);
  kw_class_loss block = {.classes = scores->shape[dim], .inner = 1, .ignored = ignored};
  for (uint32_t d = dim + 1; d < scores->rank; ++d) block.inner *= scores->shape[d];
  block.positions = block.inner * (dim > 0 ? scores->shape[0] : 1);
  return block;
}

/* ---- Losses of positions to the result ------------------------------------------------------------------------------
 */

/* The losses, their sum, or their mean by `weights`, by their number if NULL, to `out`. The sum of the weights, 0
 * without a reduction, to `total` where there is one. Both are in the compute type, a number for every position. */
static void finish(kw_gpu_plan *plan, const kw_gpu_tensor *losses, const kw_gpu_tensor *weights, int64_t reduction,
                   const kw_gpu_tensor *out, const kw_gpu_tensor *total) {
  if (reduction == REDUCE_NONE) {
    kw_gpu_tensor shaped = kw_gpu_reshape(losses, out->ref.rank, out->ref.shape);
    kw_gpu_copy(plan, out, &shaped);
    if (kw_gpu_present(total)) kw_gpu_fill(plan, total, 0);
    return;
  }
  const kw_dtype wide = losses->ref.dtype;
  kw_gpu_tensor sum = kw_gpu_temporary(plan, wide, 0, NULL), result = kw_gpu_staging(plan, out, wide);
  if (weights) kw_gpu_reduce(plan, KW_REDUCE_SUM, &sum, weights, 1);
  if (reduction == REDUCE_MEAN && weights) {
    kw_gpu_reduce_shifted(plan, KW_REDUCE_SUM_OVER, &result, losses, 1, &sum, 1);
  } else {
    kw_gpu_reduce(plan, reduction == REDUCE_MEAN ? KW_REDUCE_MEAN : KW_REDUCE_SUM, &result, losses, 1);
  }
  kw_gpu_deliver(plan, &result, out);
  if (kw_gpu_present(total)) kw_gpu_copy(plan, total, &sum);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Contiguous arguments, and what softmax knows of each position's scores where it is asked. */
typedef struct operands {
  kw_gpu_tensor scores, target, weight, largest, sums;
} operands;

/* `first` and `fifth` are the kernel's own. */
static void add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const operands *o, const kw_gpu_tensor *first,
                     const kw_gpu_tensor *scores, const kw_gpu_tensor *fifth, const kw_class_loss *block,
                     int32_t form) {
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, o->scores.ref.dtype);
  kw_gpu_step_operand(step, first);
  kw_gpu_step_operand(step, scores);
  kw_gpu_step_operand(step, &o->target);
  kw_gpu_step_operand(step, &o->weight);
  kw_gpu_step_operand(step, fifth);
  kw_gpu_step_operand(step, &o->largest);
  kw_gpu_step_operand(step, &o->sums);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, form);
  kw_gpu_step_int(step, kw_gpu_present(&o->weight));
  kw_gpu_step_error_code(step);
  if (kernel == &sum_kernel) {
    kw_gpu_step_parts(step, 1, 1);
  } else {
    kw_gpu_step_items(step, block->positions);
  }
}

/* The losses by class, which with KW_LOSS_TERMS lie in `terms` already, to `out` as `reduction` says. */
static void add_losses(kw_gpu_plan *plan, const operands *o, const kw_gpu_tensor *terms, const kw_class_loss *block,
                       int32_t form, int64_t reduction, const kw_gpu_tensor *out, const kw_gpu_tensor *total) {
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes > 0 && reduction != REDUCE_NONE && block->positions <= KW_CLASS_SUMMED) {
    if (reduction == REDUCE_MEAN) form |= KW_LOSS_MEAN;
    if (kw_gpu_present(total)) form |= KW_LOSS_TOTAL;
    add_step(plan, &sum_kernel, o, out, form & KW_LOSS_TERMS ? terms : &o->scores, total, block, form);
    return;
  }
  const kw_dtype wide = kw_gpu_compute_dtype(o->scores.ref.dtype);
  const kw_gpu_tensor weights = kw_gpu_temporary(plan, wide, 1, &block->positions);
  const kw_gpu_tensor losses = form & KW_LOSS_TERMS ? *terms : kw_gpu_temporary(plan, wide, 1, &block->positions);
  add_step(plan, &loss_kernel, o, &losses, &o->scores, &weights, block, form);
  finish(plan, &losses, &weights, reduction, out, total);
}

/* What every class adds, summed up for each position. */
static kw_gpu_tensor add_terms(kw_gpu_plan *plan, const operands *o, const kw_class_loss *block, bool probabilities,
                               double smoothing) {
  const int64_t shape[] = {block->inner > 0 ? block->positions / block->inner : 0, block->classes, block->inner};
  const kw_dtype wide = kw_gpu_compute_dtype(o->scores.ref.dtype);
  kw_gpu_tensor terms = kw_gpu_temporary(plan, wide, 3, shape);
  kw_gpu_tensor losses = kw_gpu_temporary(plan, wide, 2, (int64_t[]){shape[0], shape[2]});
  kw_gpu_step *step = kw_gpu_step_add(plan, &terms_kernel, o->scores.ref.dtype);
  kw_gpu_step_operand(step, &terms);
  kw_gpu_step_operand(step, &o->scores);
  kw_gpu_step_operand(step, &o->target);
  kw_gpu_step_operand(step, &o->weight);
  kw_gpu_step_operand(step, &o->largest);
  kw_gpu_step_operand(step, &o->sums);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, probabilities);
  kw_gpu_step_int(step, kw_gpu_present(&o->weight));
  kw_gpu_step_number(step, smoothing);
  kw_gpu_step_number(step, smoothing / (double)block->classes);
  kw_gpu_step_items(step, block->positions * block->classes);
  kw_gpu_reduce(plan, KW_REDUCE_SUM, &losses, &terms, 1u << 1);
  return kw_gpu_reshape(&losses, 1, &block->positions);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* Arguments: self, target, weight, reduction, ignore_index. */
static void lower_nll_loss(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), target = kw_gpu_input(plan, 1), weight = kw_gpu_input(plan, 2),
                out = kw_gpu_output(plan, 0), total = kw_gpu_output(plan, 1);
  const kw_class_loss block = make_block(&self.ref, kw_gpu_int(plan, 4, 0));
  kw_dtype dtype = self.ref.dtype;
  operands o = {.scores = kw_gpu_contiguous(plan, &self, dtype),
                .target = kw_gpu_contiguous(plan, &target, KW_I64),
                .weight = kw_gpu_contiguous(plan, &weight, dtype)};
  add_losses(plan, &o, NULL, &block, 0, kw_gpu_int(plan, 3, REDUCE_MEAN), &out, &total);
}

/* Arguments: grad_output, self, target, weight, reduction, ignore_index, total_weight. */
static void lower_nll_loss_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor grad = kw_gpu_input(plan, 0), target = kw_gpu_input(plan, 2), weight = kw_gpu_input(plan, 3),
                total = kw_gpu_input(plan, 6), out = kw_gpu_output(plan, 0);
  const kw_class_loss block = make_block(&out.ref, kw_gpu_int(plan, 5, 0));
  int64_t reduction = kw_gpu_int(plan, 4, REDUCE_MEAN);
  kw_dtype dtype = out.ref.dtype;
  grad = kw_gpu_contiguous(plan, &grad, dtype);
  target = kw_gpu_contiguous(plan, &target, KW_I64);
  weight = kw_gpu_contiguous(plan, &weight, dtype);
  kw_gpu_tensor result = kw_gpu_staging(plan, &out, dtype);
  kw_gpu_step *step = kw_gpu_step_add(plan, &slope_kernel, dtype);
  kw_gpu_step_operand(step, &result);
  kw_gpu_step_operand(step, &grad);
  kw_gpu_step_operand(step, &target);
  kw_gpu_step_operand(step, &weight);
  kw_gpu_step_operand(step, &total);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, reduction != REDUCE_NONE);
  kw_gpu_step_int(step, reduction == REDUCE_MEAN);
  kw_gpu_step_int(step, kw_gpu_present(&weight));
  kw_gpu_step_error_code(step);
  kw_gpu_step_stretches(plan, step, block.positions * block.classes);
  kw_gpu_deliver(plan, &result, &out);
}

/* Arguments: self, target, weight, reduction, ignore_index, label_smoothing. */
static void lower_cross_entropy(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), target = kw_gpu_input(plan, 1), weight = kw_gpu_input(plan, 2),
                out = kw_gpu_output(plan, 0), no_total = {.at.from = KW_GPU_NOTHING};
  const bool probabilities = target.ref.rank == self.ref.rank;
  const kw_class_loss block = make_block(&self.ref, kw_gpu_int(plan, 4, -100));
  const double smoothing = kw_gpu_real(plan, 5, 0);
  kw_dtype dtype = self.ref.dtype;
  operands o = {.scores = kw_gpu_contiguous(plan, &self, dtype),
                .target = kw_gpu_contiguous(plan, &target, probabilities ? dtype : KW_I64),
                .weight = kw_gpu_contiguous(plan, &weight, dtype)};
  kw_gpu_softmax_rows(plan, &o.scores, class_dim(&self.ref), &o.largest, &o.sums);
  const int64_t reduction = kw_gpu_int(plan, 3, REDUCE_MEAN);
  if (!probabilities && smoothing == 0) {
    add_losses(plan, &o, NULL, &block, KW_LOSS_LOG_SOFTMAX, reduction, &out, &no_total);
    return;
  }
  kw_gpu_tensor losses = add_terms(plan, &o, &block, probabilities, smoothing);
  if (probabilities) {
    finish(plan, &losses, NULL, reduction, &out, &no_total);
  } else {
    add_losses(plan, &o, &losses, &block, KW_LOSS_TERMS, reduction, &out, &no_total);
  }
}

static const kw_gpu_op ops[] = {
    {"nll_loss_forward", lower_nll_loss, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"nll_loss2d_forward", lower_nll_loss, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"nll_loss_backward", lower_nll_loss_backward, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"nll_loss2d_backward", lower_nll_loss_backward, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"cross_entropy_loss", lower_cross_entropy, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_class_losses_family = {
    ops, {&class_loss_module, &class_sum_module, &class_terms_module, &class_slope_module}};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimisers, and what is done to gradients before them. Lists of tensors are a step, or two, for each entry.
 */
#include "kernel_sources.h"
#include "lower/lowering.h"
#include "ops/families.h"
#include "program/dtype.h"

#include "kernels/optimizer_args.kw"

#include <float.h>
#include <math.h>
#include <string.h>

static const kw_gpu_module optimizer_module = {
    "optimizer",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_optimizer_args, kw_gpu_source_optimizer, kw_gpu_source_gradient}};

static const kw_gpu_kernel sgd_kernel = {&optimizer_module, "kw_sgd_kernel"};
static const kw_gpu_kernel adam_kernel = {&optimizer_module, "kw_adam_kernel"};
static const kw_gpu_kernel scale_kernel = {&optimizer_module, "kw_scale_kernel"};
static const kw_gpu_kernel update_scale_kernel = {&optimizer_module, "kw_update_scale_kernel"};
static const kw_gpu_kernel total_kernel = {&optimizer_module, "kw_total_kernel"};
static const kw_gpu_kernel clip_kernel = {&optimizer_module, "kw_clip_kernel"};

/* Entries of the list that argument `index` is. */
static uint32_t entries(const kw_gpu_plan *plan, uint32_t index) {
  return kw_gpu_argument(plan, index)->count;
}

/* ---- Optimisers -------------------------------------------------------------------------------------------------- */

/* A step for entry `entry` of the first `lists` arguments; the last list may have no entries. `singles` follow, absent
 * ones as stand-ins; then come flags and numbers. */
static kw_gpu_step *step_entry(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, uint32_t lists, uint32_t entry,
                               const kw_gpu_tensor *singles, uint32_t single_count, int32_t flags) {
  kw_gpu_tensor tensors[KW_OPTIMIZER_LISTS];
  const kw_tensor_ref *refs[KW_OPTIMIZER_LISTS];
  kw_optimizer block;
  memset(&block, 0, sizeof block);
  for (uint32_t j = 0; j < lists; ++j) {
    tensors[j] = entries(plan, j) > 0 ? kw_gpu_entry(plan, j, entry) : (kw_gpu_tensor){.at.from = KW_GPU_NOTHING};
    refs[j] = kw_gpu_present(&tensors[j]) ? &tensors[j].ref : NULL;
  }
  block.numel = refs[0]->numel;
  block.rank = kw_gpu_lower_dims(refs, lists, block.shape, block.stride);
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, refs[0]->dtype);
  for (uint32_t j = 0; j < lists; ++j) kw_gpu_step_operand(step, &tensors[j]);
  for (uint32_t j = 0; j < single_count; ++j) kw_gpu_step_operand(step, &singles[j]);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, flags);
  kw_gpu_step_items(step, block.numel);
  return step;
}

/* Arguments `index` and the next: grad_scale and found_inf. */
static int32_t scaling(const kw_gpu_plan *plan, uint32_t index) {
  return (kw_gpu_given(plan, index) ? KW_OPTIMIZER_SCALED : 0) |
         (kw_gpu_given(plan, index + 1) ? KW_OPTIMIZER_FOUND : 0);
}

/* Arguments: self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, nesterov, maximize,
 * is_first_step, grad_scale, found_inf. */
static void lower_sgd(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_gpu_tensor singles[] = {kw_gpu_input(plan, 10), kw_gpu_input(plan, 11)};
  const int32_t flags = scaling(plan, 10) | (kw_gpu_bool(plan, 7, false) ? KW_OPTIMIZER_NESTEROV : 0) |
                        (kw_gpu_bool(plan, 8, false) ? KW_OPTIMIZER_MAXIMIZE : 0) |
                        (kw_gpu_bool(plan, 9, false) ? KW_OPTIMIZER_FIRST_STEP : 0);
  for (uint32_t k = 0; k < entries(plan, 0); ++k) {
    kw_gpu_step *step = step_entry(plan, &sgd_kernel, 3, k, singles, 2, flags);
    kw_gpu_step_number(step, kw_gpu_real(plan, 5, 0));
    kw_gpu_step_number(step, kw_gpu_real(plan, 3, 0));
    kw_gpu_step_number(step, kw_gpu_real(plan, 4, 0));
    kw_gpu_step_number(step, 1 - kw_gpu_real(plan, 6, 0));
  }
}

/* Arguments: self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps,
 * amsgrad, maximize, grad_scale, found_inf. */
static void lower_adam(kw_gpu_plan *plan, const kw_gpu_op *op) {
  const double rate = kw_gpu_real(plan, 6, 0), beta1 = kw_gpu_real(plan, 7, 0), beta2 = kw_gpu_real(plan, 8, 0);
  const double decay = kw_gpu_real(plan, 9, 0);
  const int32_t flags = op->code | scaling(plan, 13) | (kw_gpu_bool(plan, 11, false) ? KW_OPTIMIZER_AMSGRAD : 0) |
                        (kw_gpu_bool(plan, 12, false) ? KW_OPTIMIZER_MAXIMIZE : 0);
  if (!(beta1 >= 0 && beta2 >= 0))
    kw_gpu_refuse(plan, "takes logarithms of beta1 and beta2: they have to be positive or 0");
  for (uint32_t k = 0; k < entries(plan, 0); ++k) {
    const kw_gpu_tensor singles[] = {kw_gpu_entry(plan, 5, k), kw_gpu_input(plan, 13), kw_gpu_input(plan, 14)};
    kw_gpu_step *step = step_entry(plan, &adam_kernel, 5, k, singles, 3, flags);
    kw_gpu_step_number(step, rate);
    kw_gpu_step_number(step, decay);
    kw_gpu_step_number(step, rate * decay);
    kw_gpu_step_number(step, 1 - beta1);
    kw_gpu_step_number(step, beta2);
    kw_gpu_step_number(step, 1 - beta2);
    kw_gpu_step_number(step, kw_gpu_real(plan, 10, 0));
    kw_gpu_step_number(step, log(beta1));
    kw_gpu_step_number(step, log(beta2));
  }
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* Every entry of argument 0 times `factor`: with `found` an f32, otherwise of the compute type. */
static void scale_entries(kw_gpu_plan *plan, const kw_gpu_tensor *factor, const kw_gpu_tensor *found) {
  for (uint32_t k = 0; k < entries(plan, 0); ++k) {
    const kw_gpu_tensor gradient = kw_gpu_entry(plan, 0, k);
    kw_gpu_step *step = kw_gpu_step_elementwise(plan, &scale_kernel, gradient.ref.dtype, &gradient, NULL, 0);
    kw_gpu_step_operand(step, factor);
    kw_gpu_step_operand(step, found);
    kw_gpu_step_int(step, found != NULL);
  }
}

/* Arguments: self, found_inf, inv_scale. */
static void lower_unscale(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_gpu_tensor found = kw_gpu_input(plan, 1), factor = kw_gpu_input(plan, 2);
  scale_entries(plan, &factor, &found);
}

/* Arguments: self, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval. */
static void lower_update_scale(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_gpu_tensor scale = kw_gpu_output(plan, 0), tracker = kw_gpu_input(plan, 1), found = kw_gpu_input(plan, 2);
  const kw_singles block = {{0}};
  kw_gpu_step *step = kw_gpu_step_add(plan, &update_scale_kernel, scale.ref.dtype);
  kw_gpu_step_operand(step, &scale);
  kw_gpu_step_operand(step, &tracker);
  kw_gpu_step_operand(step, &found);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_number(step, kw_gpu_real(plan, 3, 0));
  kw_gpu_step_number(step, kw_gpu_real(plan, 4, 0));
  kw_gpu_step_long(step, kw_gpu_int(plan, 5, 0));
  kw_gpu_step_items(step, 1);
}

static int64_t chunks_of(const kw_gpu_tensor *tensor) {
  return (tensor->ref.numel + KW_TOTAL_CHUNK - 1) / KW_TOTAL_CHUNK;
}

/* Arguments: grads, max_norm, norm_type. Totals of all chunks of all entries, then their norm, then every entry. */
static void lower_clip(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_gpu_tensor out = kw_gpu_output(plan, 0);
  const double power = kw_gpu_real(plan, 2, 2);
  const int32_t opcode = power > DBL_MAX ? KW_TOTAL_MAX
                         : power == 1    ? KW_TOTAL_SUM
                         : power == 2    ? KW_TOTAL_SQUARES
                                         : KW_TOTAL_POWERS;
  const kw_singles block = {{0}};
  int64_t chunks = 0, done = 0;
  for (uint32_t k = 0; k < entries(plan, 0); ++k) {
    const kw_gpu_tensor gradient = kw_gpu_entry(plan, 0, k);
    chunks += chunks_of(&gradient);
  }
  const kw_gpu_tensor totals = kw_gpu_temporary(plan, out.ref.dtype, 1, &chunks);
  const kw_gpu_tensor factor = kw_gpu_temporary(plan, out.ref.dtype, 0, NULL);
  for (uint32_t k = 0; k < entries(plan, 0); ++k) {
    const kw_gpu_tensor gradient = kw_gpu_entry(plan, 0, k);
    kw_gpu_tensor mine = totals;
    mine.at.offset += (uint64_t)done * kw_gpu_dtype_size(out.ref.dtype);
    kw_gpu_step *step = kw_gpu_step_elementwise(plan, &total_kernel, gradient.ref.dtype, &gradient, NULL, 0);
    kw_gpu_step_operand(step, &mine);
    kw_gpu_step_int(step, opcode);
    kw_gpu_step_number(step, power);
    kw_gpu_step_groups(step, chunks_of(&gradient));
    done += chunks_of(&gradient);
  }
  kw_gpu_step *step =
      kw_gpu_step_add(plan, &clip_kernel, entries(plan, 0) > 0 ? kw_gpu_entry(plan, 0, 0).ref.dtype : KW_F32);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &factor);
  kw_gpu_step_operand(step, &totals);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_long(step, chunks);
  kw_gpu_step_int(step, opcode);
  kw_gpu_step_number(step, 1 / power);
  kw_gpu_step_number(step, kw_gpu_real(plan, 1, 0));
  kw_gpu_step_groups(step, 1);
  scale_entries(plan, &factor, NULL);
}

static const kw_gpu_op ops[] = {
    {"_fused_sgd_", lower_sgd, 0, 0, KW_DTYPES_FLOAT},
    {"_fused_adam_", lower_adam, 0, 0, KW_DTYPES_FLOAT},
    {"_fused_adamw_", lower_adam, KW_OPTIMIZER_DECOUPLED, 0, KW_DTYPES_FLOAT},
    {"_amp_foreach_non_finite_check_and_unscale_", lower_unscale, 0, 0, KW_DTYPES_FLOAT},
    {"_amp_update_scale_", lower_update_scale, 0, 0, KW_DTYPE_BIT(KW_F32)},
    {"keyway::clip_grad_norm_", lower_clip, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_optimizer_family = {ops, {&optimizer_module}};

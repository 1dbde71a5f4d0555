/* SPDX-License-Identifier: Apache-2.0
 *
 * Metrics that add up over several calls.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/reduce.h"

#include "kernels/metric_args.kw"

static const kw_gpu_module metric_module = {
    "metric", KW_GPU_BY_DTYPE, KW_GPU_COMPUTED, {kw_gpu_source_metric_args, kw_gpu_source_metric}};

static const kw_gpu_kernel mean_kernel = {&metric_module, "kw_mean_kernel"};
static const kw_gpu_kernel tally_kernel = {&metric_module, "kw_tally_kernel"};
static const kw_gpu_kernel count_kernel = {&metric_module, "kw_count_kernel"};

/* Places of one launch: a tally holds as many. */
#define TALLIED ((int64_t)1 << 31)

/* Arguments: sum, count, values. */
static void lower_mean(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_gpu_tensor sum = kw_gpu_input(plan, 0), count = kw_gpu_input(plan, 1), given = kw_gpu_input(plan, 2);
  const kw_dtype key = sum.ref.dtype;
  const kw_metric block = {{0}};
  if (given.ref.numel == 0) return;
  const kw_gpu_tensor values = given.ref.dtype == key ? given : kw_gpu_contiguous(plan, &given, key);
  const kw_gpu_tensor total = kw_gpu_temporary(plan, key, 0, NULL);
  kw_gpu_reduce(plan, KW_REDUCE_SUM, &total, &values, (1u << values.ref.rank) - 1u);
  kw_gpu_step *step = kw_gpu_step_add(plan, &mean_kernel, key);
  kw_gpu_step_operand(step, &sum);
  kw_gpu_step_operand(step, &count);
  kw_gpu_step_operand(step, &total);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_long(step, given.ref.numel);
  kw_gpu_step_items(step, 1);
}

/* Arguments: counts, prediction, target, ignore_index. */
static void lower_confusion(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_gpu_tensor counts = kw_gpu_input(plan, 0), prediction = kw_gpu_input(plan, 1);
  const kw_gpu_tensor target = kw_gpu_input(plan, 2);
  const kw_gpu_tensor tallies = kw_gpu_temporary(plan, KW_I32, 2, counts.ref.shape);
  const int64_t numel = prediction.ref.numel;
  if (numel > 0) kw_gpu_fill(plan, &tallies, 0);
  for (int64_t begin = 0; begin < numel; begin += TALLIED) {
    const int64_t end = numel - begin < TALLIED ? numel : begin + TALLIED;
    kw_gpu_step *step = kw_gpu_step_elementwise(plan, &tally_kernel, counts.ref.dtype, &prediction,
                                                (const kw_gpu_tensor *[]){&target}, 1);
    kw_gpu_step_operand(step, &tallies);
    kw_gpu_step_errors(step);
    kw_gpu_step_long(step, begin);
    kw_gpu_step_long(step, end);
    kw_gpu_step_long(step, counts.ref.shape[0]);
    kw_gpu_step_long(step, kw_gpu_int(plan, 3, -100));
    kw_gpu_step_int(step, (prediction.ref.dtype == KW_I64 ? KW_METRIC_PREDICTION_WIDE : 0) |
                              (target.ref.dtype == KW_I64 ? KW_METRIC_TARGET_WIDE : 0));
    kw_gpu_step_error_code(step);
    kw_gpu_step_items(step, end - begin);
    kw_gpu_step_elementwise(plan, &count_kernel, counts.ref.dtype, &counts, (const kw_gpu_tensor *[]){&tallies}, 1);
  }
}

static const kw_gpu_op ops[] = {
    {"keyway::accumulate_mean_", lower_mean, 0, 0, KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64)},
    {"keyway::accumulate_confusion_", lower_confusion, 0, KW_KERNEL_DATA_ERRORS,
     KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64)},
    {0},
};

const kw_gpu_family kw_gpu_metric_family = {ops, {&metric_module}};

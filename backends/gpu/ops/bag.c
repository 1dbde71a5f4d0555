/* SPDX-License-Identifier: Apache-2.0
 *
 * Embedding bags: sums, means or maxima of the rows of a table that bags of indices name.
 */
#include "kernel_sources.h"
#include "ops/families.h"

#include "kernels/bag_args.kw"

#include <string.h>

static const kw_gpu_module bag_module = {
    "bag", KW_GPU_BY_DTYPE, KW_DTYPES_FLOAT, {kw_gpu_source_bag_args, kw_gpu_source_bag}};

static const kw_gpu_kernel bag_of_kernel = {&bag_module, "kw_bag_of_kernel"};
static const kw_gpu_kernel bag_kernel = {&bag_module, "kw_bag_kernel"};

enum { BAG_OPERANDS = 8 };

/* All but the grid. */
static kw_gpu_step *add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_tensor operands[BAG_OPERANDS],
                             const kw_bags *block, int32_t mode, int32_t flags) {
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, operands[0].ref.dtype);
  for (uint32_t k = 0; k < BAG_OPERANDS; ++k) kw_gpu_step_operand(step, &operands[k]);
  kw_gpu_step_errors(step);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, mode);
  kw_gpu_step_int(step, flags);
  kw_gpu_step_error_code(step);
  return step;
}

/* Arguments: weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
 * padding_idx. */
static void lower_embedding_bag(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  const kw_gpu_tensor out = kw_gpu_output(plan, 0), bag_of = kw_gpu_output(plan, 1), sizes = kw_gpu_output(plan, 2),
                      chosen = kw_gpu_output(plan, 3), weight = kw_gpu_input(plan, 0), indices = kw_gpu_input(plan, 1),
                      offsets = kw_gpu_input(plan, 2), scales = kw_gpu_input(plan, 6);
  const kw_gpu_tensor operands[BAG_OPERANDS] = {out, bag_of, sizes, chosen, weight, indices, offsets, scales};
  const int32_t flags = (indices.ref.dtype == KW_I32 ? KW_BAG_NARROW_INDICES : 0) |
                        (offsets.ref.dtype == KW_I32 ? KW_BAG_NARROW_OFFSETS : 0) |
                        (kw_gpu_bool(plan, 7, false) ? KW_BAG_LAST_OFFSET : 0) |
                        (kw_gpu_present(&scales) ? KW_BAG_SCALES : 0);
  const int32_t mode = (int32_t)kw_gpu_int(plan, 4, KW_BAG_SUM);
  kw_bags block = {.bags = out.ref.shape[0],
                   .columns = out.ref.shape[1],
                   .rows = weight.ref.shape[0],
                   .count = indices.ref.shape[0],
                   .padding = kw_gpu_int(plan, 8, -1),
                   .bag_stride = bag_of.ref.strides[0],
                   .size_stride = sizes.ref.strides[0],
                   .index_stride = indices.ref.strides[0],
                   .offset_stride = offsets.ref.strides[0],
                   .scale_stride = kw_gpu_present(&scales) ? scales.ref.strides[0] : 0};
  memcpy(block.out_stride, out.ref.strides, sizeof block.out_stride);
  memcpy(block.chosen_stride, chosen.ref.strides, sizeof block.chosen_stride);
  memcpy(block.weight_stride, weight.ref.strides, sizeof block.weight_stride);
  kw_gpu_step_items(add_step(plan, &bag_of_kernel, operands, &block, mode, flags), block.count);
  kw_gpu_step *step = add_step(plan, &bag_kernel, operands, &block, mode, flags);
  const kw_gpu_device *device = plan->call->device;
  if (device->vector_bytes > 0) {
    const int64_t parts = (block.columns + KW_BAG_COLUMNS - 1) / KW_BAG_COLUMNS;
    kw_gpu_step_parts(step, block.bags * (parts > 0 ? parts : 1), 1);
  } else {
    kw_gpu_step_items(step, block.bags * (block.columns + 1));
  }
}

static const kw_gpu_op ops[] = {
    {"_embedding_bag", lower_embedding_bag, 0, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_bag_family = {ops, {&bag_module}};

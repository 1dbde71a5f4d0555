/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools and their gradients. Those of one dimension core makes pools of images of one row.
 */
#include "kernel_sources.h"
#include "lower/frame.h"
#include "ops/families.h"
#include "ops/moves.h"

#include "kernels/pooling_args.kw"

static const kw_gpu_module pooling_module = {
    "pooling",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_NUM,
    {kw_gpu_source_frame_args, kw_gpu_source_frame, kw_gpu_source_pooling_args, kw_gpu_source_pooling}};

static const kw_gpu_kernel max_kernel = {&pooling_module, "kw_max_pool_kernel"};
static const kw_gpu_kernel avg_kernel = {&pooling_module, "kw_avg_pool_kernel"};
static const kw_gpu_kernel avg_backward_kernel = {&pooling_module, "kw_avg_pool_backward_kernel"};
static const kw_gpu_kernel max_check_kernel = {&pooling_module, "kw_max_pool_check_kernel"};
static const kw_gpu_kernel max_backward_kernel = {&pooling_module, "kw_max_pool_backward_kernel"};

/* A pool of windows that slide: kernel_size, stride (none given: that of the kernel) and padding are arguments `lists`,
 * and what comes after them. Adaptive ones have no such arguments: `lists` is 0. */
static kw_pooling block_of(const kw_gpu_plan *plan, const kw_gpu_tensor *elements, const kw_gpu_tensor *windows,
                           uint32_t dims, uint32_t lists) {
  kw_pooling block = {.elements = kw_gpu_frame(elements, dims),
                      .windows = kw_gpu_frame(windows, dims),
                      .dilation = {1, 1, 1},
                      .lanes = 1};
  if (lists == 0) return block;
  kw_gpu_frame_list(plan, lists, dims, 1, block.extent);
  kw_gpu_frame_list(plan, lists, dims, 1, block.stride);
  kw_gpu_frame_list(plan, lists + 1, dims, 1, block.stride);
  kw_gpu_frame_list(plan, lists + 2, dims, 0, block.padding);
  return block;
}

/* What an average is divided by: ceil_mode is argument `lists` + 3, then come count_include_pad and divisor_override.
 */
static void read_divisor(const kw_gpu_plan *plan, uint32_t lists, kw_pooling *block) {
  block->counts_padding = kw_gpu_bool(plan, lists + 4, true);
  block->divisor = kw_gpu_int(plan, lists + 5, 0);
}

/* The block and the grid of a step that makes windows of elements. One item for an output reads small windows; with
 * long rows several share them, but on devices with vectors. */
static void forward_grid(const kw_gpu_plan *plan, kw_gpu_step *step, kw_pooling *block) {
  const int64_t size = block->elements.shape[4], windows = block->windows.shape[4];
  const int64_t row = block->extent[2] ? (block->extent[2] < size ? block->extent[2] : size) : size / windows;
  const kw_gpu_device *device = plan->call->device;
  const bool vectors = device->vector_bytes > 0;
  while (!vectors && row >= 16 && block->lanes < KW_LOCAL_REDUCTION && block->lanes < row) block->lanes *= 2;
  kw_gpu_step_block(step, block, sizeof *block);
  if (vectors) {
    kw_gpu_step_stretches(plan, step, block->numel);
  } else {
    kw_gpu_step_groups(step, (block->numel * block->lanes + KW_LOCAL_REDUCTION - 1) / KW_LOCAL_REDUCTION);
  }
}

/* `code` of all ops: the number of dimensions that are pooled, and whether windows are adaptive. */
#define ADAPTIVE 16

static uint32_t dims_of(const kw_gpu_op *op) {
  return (uint32_t)op->code % ADAPTIVE;
}

static void lower_avg(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  const uint32_t lists = op->code & ADAPTIVE ? 0 : 1;
  kw_pooling block = block_of(plan, &in, &out, dims_of(op), lists);
  if (lists) read_divisor(plan, lists, &block);
  block.numel = out.ref.numel;
  kw_gpu_step *step = kw_gpu_step_add(plan, &avg_kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &in);
  forward_grid(plan, step, &block);
}

static void lower_max(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), indices = kw_gpu_output(plan, 1), in = kw_gpu_input(plan, 0);
  const uint32_t lists = op->code & ADAPTIVE ? 0 : 1;
  kw_pooling block = block_of(plan, &in, &out, dims_of(op), lists);
  if (lists) kw_gpu_frame_list(plan, lists + 3, dims_of(op), 1, block.dilation);
  block.indices = kw_gpu_frame(&indices, dims_of(op));
  block.numel = out.ref.numel;
  kw_gpu_step *step = kw_gpu_step_add(plan, &max_kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &in);
  kw_gpu_step_operand(step, &indices);
  forward_grid(plan, step, &block);
}

static void lower_avg_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0);
  const uint32_t lists = op->code & ADAPTIVE ? 0 : 2;
  kw_pooling block = block_of(plan, &out, &grad, dims_of(op), lists);
  if (lists) read_divisor(plan, lists, &block);
  block.numel = out.ref.numel;
  kw_gpu_step *step = kw_gpu_step_add(plan, &avg_backward_kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &grad);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_stretches(plan, step, block.numel);
}

static void lower_max_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  const uint32_t lists = op->code & ADAPTIVE ? 0 : 2, argument = lists ? 7 : 2;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0), indices = kw_gpu_input(plan, argument);
  kw_pooling block = block_of(plan, &out, &grad, dims_of(op), lists);
  if (lists) kw_gpu_frame_list(plan, lists + 3, dims_of(op), 1, block.dilation);
  block.indices = kw_gpu_frame(&indices, dims_of(op));
  block.numel = out.ref.numel;
  kw_gpu_tensor strange = kw_gpu_temporary(plan, KW_I32, 2, block.elements.shape);
  kw_gpu_fill(plan, &strange, 0);
  kw_gpu_step *check = kw_gpu_step_add(plan, &max_check_kernel, out.ref.dtype);
  kw_gpu_step_operand(check, &strange);
  kw_gpu_step_operand(check, &indices);
  kw_gpu_step_errors(check);
  kw_gpu_step_block(check, &block, sizeof block);
  kw_gpu_step_long(check, indices.ref.numel);
  kw_gpu_step_int(check, indices.ref.dtype == KW_I64);
  kw_gpu_step_error_code(check);
  kw_gpu_step_int(check, (int32_t)argument);
  kw_gpu_step_stretches(plan, check, indices.ref.numel);
  kw_gpu_step *gather = kw_gpu_step_add(plan, &max_backward_kernel, out.ref.dtype);
  kw_gpu_step_operand(gather, &out);
  kw_gpu_step_operand(gather, &grad);
  kw_gpu_step_operand(gather, &indices);
  kw_gpu_step_operand(gather, &strange);
  kw_gpu_step_block(gather, &block, sizeof block);
  kw_gpu_step_int(gather, indices.ref.dtype == KW_I64);
  kw_gpu_step_stretches(plan, gather, block.numel);
}

static const kw_gpu_op ops[] = {
    {"avg_pool2d", lower_avg, 2, 0, KW_DTYPES_FLOAT},
    {"avg_pool3d", lower_avg, 3, 0, KW_DTYPES_FLOAT},
    {"_adaptive_avg_pool2d", lower_avg, 2 | ADAPTIVE, 0, KW_DTYPES_FLOAT},
    {"_adaptive_avg_pool3d", lower_avg, 3 | ADAPTIVE, 0, KW_DTYPES_FLOAT},
    {"max_pool2d_with_indices", lower_max, 2, 0, KW_DTYPES_NUM},
    {"max_pool3d_with_indices", lower_max, 3, 0, KW_DTYPES_NUM},
    {"adaptive_max_pool2d", lower_max, 2 | ADAPTIVE, 0, KW_DTYPES_FLOAT},
    {"adaptive_max_pool3d", lower_max, 3 | ADAPTIVE, 0, KW_DTYPES_FLOAT},
    {"avg_pool2d_backward", lower_avg_backward, 2, 0, KW_DTYPES_FLOAT},
    {"avg_pool3d_backward", lower_avg_backward, 3, 0, KW_DTYPES_FLOAT},
    {"_adaptive_avg_pool2d_backward", lower_avg_backward, 2 | ADAPTIVE, 0, KW_DTYPES_FLOAT},
    {"_adaptive_avg_pool3d_backward", lower_avg_backward, 3 | ADAPTIVE, 0, KW_DTYPES_FLOAT},
    {"max_pool2d_with_indices_backward", lower_max_backward, 2, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"max_pool3d_with_indices_backward", lower_max_backward, 3, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"adaptive_max_pool2d_backward", lower_max_backward, 2 | ADAPTIVE, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {"adaptive_max_pool3d_backward", lower_max_backward, 3 | ADAPTIVE, KW_KERNEL_DATA_ERRORS, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_pooling_family = {ops, {&pooling_module}};

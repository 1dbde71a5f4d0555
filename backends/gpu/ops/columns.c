/* SPDX-License-Identifier: Apache-2.0
 *
 * Images as columns, and back.
 */
#include "kernel_sources.h"
#include "lower/frame.h"
#include "ops/families.h"

#include "kernels/columns_args.kw"

static const kw_gpu_module columns_module = {
    "columns",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_frame_args, kw_gpu_source_frame, kw_gpu_source_columns_args, kw_gpu_source_columns}};

static const kw_gpu_kernel im2col_kernel = {&columns_module, "kw_im2col_kernel"};
static const kw_gpu_kernel col2im_kernel = {&columns_module, "kw_col2im_kernel"};

/* kernel_size, dilation, padding and stride are arguments `lists` and after. */
static void lower(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_tensor *image,
                  const kw_gpu_tensor *matrix, uint32_t lists) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_columns block = {.image = kw_gpu_frame(image, 2), .matrix = kw_gpu_frame(matrix, 1), .numel = out.ref.numel};
  kw_gpu_frame_list(plan, lists, 2, 1, block.extent);
  kw_gpu_frame_list(plan, lists + 1, 2, 1, block.dilation);
  kw_gpu_frame_list(plan, lists + 2, 2, 0, block.padding);
  kw_gpu_frame_list(plan, lists + 3, 2, 1, block.stride);
  for (int d = 0; d < 3; ++d) {
    int64_t covered = block.dilation[d] * (block.extent[d] - 1) + 1;
    block.positions[d] = (block.image.shape[d + 2] + 2 * block.padding[d] - covered) / block.stride[d] + 1;
  }
  for (int d = 1; d < 3; ++d) block.matrix.shape[d + 2] = block.positions[d];
  block.matrix.stride[3] = block.positions[2] * block.matrix.stride[4];
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &in);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_stretches(plan, step, block.numel);
}

static void lower_im2col(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  lower(plan, &im2col_kernel, &in, &out, 1);
}

static void lower_col2im(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  lower(plan, &col2im_kernel, &out, &in, 2);
}

static const kw_gpu_op ops[] = {
    {"im2col", lower_im2col, 0, 0, KW_DTYPES_FLOAT},
    {"col2im", lower_col2im, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_columns_family = {ops, {&columns_module}};

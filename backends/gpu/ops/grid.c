/* SPDX-License-Identifier: Apache-2.0
 *
 * Images sampled wherever a grid says, and the gradients.
 */
#include "kernel_sources.h"
#include "lower/frame.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/scatter.h"
#include "program/dtype.h"

#include "kernels/grid_args.kw"
#include "kernels/taps_args.kw"

#define MODULE(name)                                                                               \
  static const kw_gpu_module name##_module = {                                                     \
      #name,                                                                                       \
      KW_GPU_BY_DTYPE,                                                                             \
      KW_DTYPES_FLOAT,                                                                             \
      {kw_gpu_source_frame_args, kw_gpu_source_frame, kw_gpu_source_taps_args, kw_gpu_source_taps, \
       kw_gpu_source_grid_args, kw_gpu_source_grid_at, kw_gpu_source_##name}}
MODULE(grid);
MODULE(grid_backward);

static const kw_gpu_kernel sample_kernel = {&grid_module, "kw_grid_kernel"};
static const kw_gpu_kernel backward_kernel = {&grid_backward_module, "kw_grid_backward_kernel"};
static const kw_gpu_kernel keys_kernel = {&grid_backward_module, "kw_grid_keys_kernel"};
static const kw_gpu_kernel planes_kernel = {&grid_backward_module, "kw_grid_planes_kernel"};

/* interpolation_mode, padding_mode and align_corners are arguments `rest` and after. */
static kw_grid block_of(kw_gpu_plan *plan, const kw_gpu_tensor *input, const kw_gpu_tensor *grid,
                        const kw_gpu_tensor *result, uint32_t rest) {
  static const kw_i64 taps[] = {KW_TAPS_LINEAR, KW_TAPS_NEAREST, KW_TAPS_CUBIC};
  const int64_t padding = kw_gpu_int(plan, rest + 1, 0);
  kw_grid block = {.input = kw_gpu_frame(input, 2),
                   .result = kw_gpu_frame(result, 2),
                   .taps = taps[kw_gpu_int(plan, rest, 0)],
                   .corners = kw_gpu_bool(plan, rest + 2, false)};
  for (int d = 0; d < 4; ++d) block.grid_stride[d] = grid->ref.strides[d];
  if (block.taps != KW_TAPS_CUBIC) { /* coordinates are moved into the image, otherwise the single elements */
    block.padding = padding;
    block.choice = KW_GRID_INSIDE;
  } else {
    block.padding = KW_GRID_ZEROS;
    block.choice = padding == KW_GRID_ZEROS    ? KW_GRID_INSIDE
                   : padding == KW_GRID_BORDER ? KW_GRID_CLAMPED
                   : block.corners             ? KW_GRID_MIRRORED
                                               : KW_GRID_FOLDED;
  }
  return block;
}

static kw_gpu_step *launch(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                           const kw_gpu_tensor *const operands[4], const kw_grid *block) {
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, dtype);
  for (int k = 0; k < 4 && operands[k]; ++k) kw_gpu_step_operand(step, operands[k]);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_items(step, block->numel);
  return step;
}

static void lower_sample(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), input = kw_gpu_input(plan, 0), grid = kw_gpu_input(plan, 1);
  kw_grid block = block_of(plan, &input, &grid, &out, 2);
  const kw_gpu_device *device = plan->call->device;
  const kw_gpu_tensor *const operands[4] = {&out, &input, &grid};
  block.numel = device->vector_bytes > 0 ? grid.ref.numel / 2 : out.ref.numel;
  kw_gpu_step *step = launch(plan, &sample_kernel, out.ref.dtype, operands, &block);
  if (device->vector_bytes > 0) kw_gpu_step_parts(step, out.ref.numel > 0 ? block.numel : 0, KW_GRID_POINTS);
}

/* [batch, channels, height, width] as [batch, height, width, channels] */
static kw_gpu_tensor channels_last(const kw_gpu_tensor *image) {
  kw_gpu_tensor view = *image;
  for (int d = 1; d < 4; ++d) {
    view.ref.shape[d] = image->ref.shape[d < 3 ? d + 1 : 1];
    view.ref.strides[d] = image->ref.strides[d < 3 ? d + 1 : 1];
  }
  return view;
}

/* Every point of the grid goes to taps * taps elements of an image, with all its channels. In vectors an item adds them
 * up, elsewhere they are sorted by where they go. */
static void add_planes(kw_gpu_plan *plan, const kw_gpu_tensor *out, const kw_gpu_tensor *grid,
                       const kw_gpu_tensor *grad, kw_grid block) {
  const kw_dtype dtype = out->ref.dtype;
  kw_gpu_tensor result = kw_gpu_staging(plan, out, kw_gpu_compute_dtype(dtype));
  const kw_gpu_tensor lost = kw_gpu_temporary(plan, result.ref.dtype, 1, &result.ref.numel);
  const int64_t parts = (block.input.shape[1] + KW_GRID_PLANES - 1) / KW_GRID_PLANES;
  kw_gpu_step *step =
      launch(plan, &planes_kernel, dtype, (const kw_gpu_tensor *[4]){&result, grad, grid, &lost}, &block);
  kw_gpu_step_parts(step, out->ref.numel > 0 ? block.input.shape[0] * parts : 0, 1);
  kw_gpu_deliver(plan, &result, out);
}

static void scatter_points(kw_gpu_plan *plan, const kw_gpu_tensor *out, const kw_gpu_tensor *grid,
                           const kw_gpu_tensor *grad, kw_grid block) {
  const int64_t fan = block.taps * block.taps, points = grid->ref.numel / 2, entries = points * fan;
  if (out->ref.numel == 0 || entries == 0) {
    kw_gpu_fill(plan, out, 0);
    return;
  }
  kw_gpu_tensor keys = kw_gpu_temporary(plan, KW_I64, 1, &entries),
                weights = kw_gpu_temporary(plan, kw_gpu_compute_dtype(out->ref.dtype), 1, &entries);
  launch(plan, &keys_kernel, out->ref.dtype, (const kw_gpu_tensor *[4]){&keys, &weights, grid}, &block);
  kw_gpu_scatter scatter = {.op = KW_SCATTER_SUM,
                            .out = channels_last(out),
                            .src = channels_last(grad),
                            .keys = keys,
                            .weights = weights,
                            .outer = 1,
                            .rows = block.input.shape[0] * block.input.shape[3] * block.input.shape[4],
                            .inner = block.input.shape[1],
                            .fan = fan};
  kw_gpu_scatter_rows(plan, &scatter);
}

static void lower_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor to_input = kw_gpu_output(plan, 0), to_grid = kw_gpu_output(plan, 1);
  kw_gpu_tensor grad = kw_gpu_input(plan, 0), input = kw_gpu_input(plan, 1), grid = kw_gpu_input(plan, 2);
  kw_grid block = block_of(plan, &input, &grid, &grad, 3);
  const bool vectors = ((const kw_gpu_device *)plan->call->device)->vector_bytes > 0;
  block.numel = grid.ref.numel / 2;
  if (kw_gpu_present(&to_input)) (vectors ? add_planes : scatter_points)(plan, &to_input, &grid, &grad, block);
  if (!kw_gpu_present(&to_grid)) return;
  for (int d = 0; d < 4; ++d) block.grad_stride[d] = to_grid.ref.strides[d];
  kw_gpu_step *step = launch(plan, &backward_kernel, to_grid.ref.dtype,
                             (const kw_gpu_tensor *[4]){&to_grid, &input, &grid, &grad}, &block);
  if (vectors) {
    const int64_t points = block.result.shape[3] * block.result.shape[4];
    kw_gpu_step_parts(step, block.result.shape[0] * ((points + KW_GRID_POINTS - 1) / KW_GRID_POINTS), 1);
  } else {
    kw_gpu_step_items(step, 2 * block.numel);
  }
}

static const kw_gpu_op ops[] = {
    {"grid_sampler_2d", lower_sample, 0, 0, KW_DTYPES_FLOAT},
    {"grid_sampler_2d_backward", lower_backward, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_grid_family = {ops, {&grid_module, &grid_backward_module}};

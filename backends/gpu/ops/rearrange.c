/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements at other positions than before: repeat, flip, roll, triu, pads. What follows from copies (select_scatter,
 * slice_scatter, constant_pad_nd) core does.
 */
#include "kernel_sources.h"
#include "lower/frame.h"
#include "ops/families.h"
#include "ops/moves.h"

#include "kernels/pad_args.kw"
#include "kernels/rearrange_args.kw"

static const kw_gpu_module rearrange_module = {
    "rearrange",
    KW_GPU_BY_SIZE,
    KW_GPU_SIZES,
    {kw_gpu_source_raw, kw_gpu_source_rearrange_args, kw_gpu_source_rearrange}};
static const kw_gpu_module pad_module = {"pad",
                                         KW_GPU_BY_DTYPE,
                                         KW_DTYPES_FLOAT,
                                         {kw_gpu_source_frame_args, kw_gpu_source_frame, kw_gpu_source_rearrange_args,
                                          kw_gpu_source_pad_args, kw_gpu_source_pad}};

static const kw_gpu_kernel rearrange_kernel = {&rearrange_module, "kw_rearrange_kernel"};
static const kw_gpu_kernel triangle_kernel = {&rearrange_module, "kw_triangle_kernel"};
static const kw_gpu_kernel pad_backward_kernel = {&pad_module, "kw_pad_backward_kernel"};

/* `in` may have fewer dimensions; those in front that it lacks have one element, as has the one of
 * tensors with no dimensions. Everything stays where it is as long
 * as start and mode are not changed, and begins again where `out` is larger. */
static kw_rearrange block_of(const kw_gpu_tensor *out, const kw_gpu_tensor *in) {
  const uint32_t more = out->ref.rank - in->ref.rank;
  kw_rearrange block = {.numel = out->ref.numel, .rank = 1, .shape = {1}, .size = {1}};
  if (out->ref.rank > 0) block.rank = out->ref.rank;
  for (uint32_t d = 0; d < out->ref.rank; ++d) {
    block.shape[d] = out->ref.shape[d];
    block.out_stride[d] = out->ref.strides[d];
    block.size[d] = d < more ? 1 : in->ref.shape[d - more];
    block.in_stride[d] = d < more ? 0 : in->ref.strides[d - more];
    block.mode[d] = KW_REARRANGE_WRAP;
  }
  return block;
}

static kw_gpu_step *launch(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_tensor *out,
                           const kw_gpu_tensor *in, const kw_rearrange *block) {
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, out->ref.dtype);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_operand(step, in);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_stretches(plan, step, block->numel);
  return step;
}

static void lower_repeat(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_rearrange block = block_of(&out, &in);
  launch(plan, &rearrange_kernel, &out, &in, &block);
}

static int64_t from_front(int64_t dim, uint32_t rank) {
  return dim < 0 ? dim + (int64_t)rank : dim;
}

static void lower_flip(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  const kw_value *dims = kw_gpu_argument(plan, 1);
  kw_rearrange block = block_of(&out, &in);
  for (uint32_t k = 0; k < dims->count && in.ref.rank > 0; ++k)
    block.mode[from_front(dims->u.ints[k], in.ref.rank)] = KW_REARRANGE_FLIP;
  launch(plan, &rearrange_kernel, &out, &in, &block);
}

/* Turns a dimension of `size` elements on by `shift`, which may be any number. */
static void turn(int64_t *start, int64_t shift, int64_t size) {
  if (size > 0) *start = (*start + size - shift % size) % size;
}

static void lower_roll(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  const kw_value *shifts = kw_gpu_argument(plan, 1), *dims = kw_gpu_argument(plan, 2);
  if (dims->count > 0) {
    kw_rearrange block = block_of(&out, &in);
    for (uint32_t k = 0; k < dims->count && in.ref.rank > 0; ++k) {
      int64_t d = from_front(dims->u.ints[k], in.ref.rank);
      turn(&block.start[d], shifts->u.ints[k], block.size[d]);
    }
    launch(plan, &rearrange_kernel, &out, &in, &block);
    return;
  }
  kw_gpu_tensor from = kw_gpu_contiguous(plan, &in, in.ref.dtype), to = kw_gpu_staging(plan, &out, out.ref.dtype);
  kw_gpu_tensor from_row = kw_gpu_reshape(&from, 1, &in.ref.numel), to_row = kw_gpu_reshape(&to, 1, &out.ref.numel);
  kw_rearrange block = block_of(&to_row, &from_row);
  turn(&block.start[0], shifts->u.ints[0], block.size[0]);
  launch(plan, &rearrange_kernel, &to_row, &from_row, &block);
  kw_gpu_deliver(plan, &to, &out);
}

/* `code`: below the diagonal. */
static void lower_triangle(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_rearrange block = block_of(&out, &in);
  const int64_t rows = block.shape[block.rank - 2], columns = block.shape[block.rank - 1];
  const int64_t diagonal = kw_gpu_int(plan, 1, 0);
  kw_gpu_step *step = launch(plan, &triangle_kernel, &out, &in, &block);
  kw_gpu_step_long(step, diagonal < -rows ? -rows : diagonal < columns ? diagonal : columns);
  kw_gpu_step_int(step, op->code);
}

/* `code`: the mode. Pads are pairs (before, after), from the last dimension on. */
static void lower_pad(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  const kw_value *pads = kw_gpu_argument(plan, 1);
  kw_rearrange block = block_of(&out, &in);
  for (uint32_t pair = 0; pair < pads->count / 2; ++pair) {
    const uint32_t d = in.ref.rank - 1 - pair;
    block.start[d] = -pads->u.ints[2 * pair];
    block.mode[d] = op->code;
  }
  launch(plan, &rearrange_kernel, &out, &in, &block);
}

/* `code`: the mode. */
static void lower_pad_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0);
  const kw_value *pads = kw_gpu_argument(plan, 2);
  const uint32_t dims = pads->count / 2;
  kw_pad block = {.elements = kw_gpu_frame(&out, dims), .padded = kw_gpu_frame(&grad, dims)};
  for (uint32_t pair = 0; pair < dims; ++pair) block.before[2 - pair] = pads->u.ints[2 * pair];
  kw_gpu_step *step = kw_gpu_step_add(plan, &pad_backward_kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &grad);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_long(step, out.ref.numel);
  kw_gpu_step_int(step, op->code);
  kw_gpu_step_stretches(plan, step, out.ref.numel);
}

static const kw_gpu_op ops[] = {
    {"repeat", lower_repeat, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"flip", lower_flip, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"roll", lower_roll, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"triu", lower_triangle, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"tril", lower_triangle, 1, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"reflection_pad1d", lower_pad, KW_REARRANGE_REFLECT, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"reflection_pad2d", lower_pad, KW_REARRANGE_REFLECT, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"reflection_pad3d", lower_pad, KW_REARRANGE_REFLECT, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"replication_pad1d", lower_pad, KW_REARRANGE_CLAMP, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"replication_pad2d", lower_pad, KW_REARRANGE_CLAMP, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"replication_pad3d", lower_pad, KW_REARRANGE_CLAMP, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"reflection_pad1d_backward", lower_pad_backward, KW_REARRANGE_REFLECT, 0, KW_DTYPES_FLOAT},
    {"reflection_pad2d_backward", lower_pad_backward, KW_REARRANGE_REFLECT, 0, KW_DTYPES_FLOAT},
    {"reflection_pad3d_backward", lower_pad_backward, KW_REARRANGE_REFLECT, 0, KW_DTYPES_FLOAT},
    {"replication_pad1d_backward", lower_pad_backward, KW_REARRANGE_CLAMP, 0, KW_DTYPES_FLOAT},
    {"replication_pad2d_backward", lower_pad_backward, KW_REARRANGE_CLAMP, 0, KW_DTYPES_FLOAT},
    {"replication_pad3d_backward", lower_pad_backward, KW_REARRANGE_CLAMP, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_rearrange_family = {ops, {&rearrange_module, &pad_module}};

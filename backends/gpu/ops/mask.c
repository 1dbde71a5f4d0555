/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that choose elements by their values or by masks.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/scan.h"
#include "program/dtype.h"

#include "kernels/mask_args.kw"

#include <string.h>

static const kw_gpu_module mask_module = {
    "mask", KW_GPU_BY_SIZE, KW_GPU_SIZES, {kw_gpu_source_raw, kw_gpu_source_mask_args, kw_gpu_source_mask}};

static const kw_gpu_kernel flag_kernel = {&mask_module, "kw_flag_kernel"};
static const kw_gpu_kernel nonzero_kernel = {&mask_module, "kw_nonzero_kernel"};
static const kw_gpu_kernel masked_select_kernel = {&mask_module, "kw_masked_select_kernel"};
static const kw_gpu_kernel masked_scatter_kernel = {&mask_module, "kw_masked_scatter_kernel"};

/* How many elements of `in` are not zero up to each, in row-major order: contiguous, of its shape. */
static kw_gpu_tensor positions_of(kw_gpu_plan *plan, const kw_gpu_tensor *in) {
  const kw_dtype dtype = in->ref.dtype;
  const uint32_t bits = 8 * kw_gpu_dtype_size(dtype);
  const bool is_float = KW_DTYPE_BIT(dtype) & KW_DTYPES_FLOAT; /* -0 is zero */
  const uint64_t mask = UINT64_MAX >> (64 - bits + is_float);
  kw_gpu_tensor positions = kw_gpu_temporary(plan, KW_I64, in->ref.rank, in->ref.shape);
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &flag_kernel, dtype, &positions, (const kw_gpu_tensor *[]){in}, 1);
  kw_gpu_step_long(step, (int64_t)mask);
  const kw_gpu_tensor row = kw_gpu_reshape(&positions, 1, &positions.ref.numel);
  kw_gpu_scan(plan, KW_REDUCE_SUM, &row, &row, 0);
  return positions;
}

static void lower_nonzero(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), out = kw_gpu_output(plan, 0), count = kw_gpu_output(plan, 1);
  if (self.ref.numel == 0) {
    kw_gpu_fill(plan, &count, 0);
    return;
  }
  const kw_gpu_tensor positions = positions_of(plan, &self);
  kw_nonzeros block = {.numel = self.ref.numel, .rank = self.ref.rank};
  memcpy(block.shape, self.ref.shape, self.ref.rank * sizeof *block.shape);
  memcpy(block.stride, out.ref.strides, sizeof block.stride);
  kw_gpu_step *step = kw_gpu_step_add(plan, &nonzero_kernel, self.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &positions);
  kw_gpu_step_operand(step, &count);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_items(step, block.numel);
}

/* The shape that two tensors broadcast to; returns its rank. */
static uint32_t joint_shape(const kw_tensor_ref *a, const kw_tensor_ref *b, int64_t *shape) {
  const kw_tensor_ref *longer = a->rank > b->rank ? a : b, *shorter = longer == a ? b : a;
  const uint32_t missing = (uint32_t)longer->rank - shorter->rank;
  memcpy(shape, longer->shape, longer->rank * sizeof *shape);
  for (uint32_t d = 0; d < shorter->rank; ++d)
    if (shape[missing + d] == 1) shape[missing + d] = shorter->shape[d];
  return longer->rank;
}

static void lower_masked_select(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), mask = kw_gpu_input(plan, 1), out = kw_gpu_output(plan, 0),
                count = kw_gpu_output(plan, 1);
  int64_t shape[KW_MAX_RANK];
  const uint32_t rank = joint_shape(&self.ref, &mask.ref, shape);
  self = kw_gpu_expand(&self, rank, shape);
  mask = kw_gpu_expand(&mask, rank, shape);
  if (self.ref.numel == 0) {
    kw_gpu_fill(plan, &count, 0);
    return;
  }
  const kw_gpu_tensor positions = positions_of(plan, &mask);
  const int64_t step_out = out.ref.strides[0], nowhere[KW_MAX_RANK] = {0};
  out = kw_gpu_strided(&out, rank, shape, nowhere);
  count = kw_gpu_strided(&count, rank, shape, nowhere);
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &masked_select_kernel, self.ref.dtype, &positions,
                                            (const kw_gpu_tensor *[]){&self, &out, &count}, 3);
  kw_gpu_step_long(step, step_out);
}

static void lower_masked_scatter(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor self = kw_gpu_input(plan, 0), mask = kw_gpu_input(plan, 1), source = kw_gpu_input(plan, 2),
                out = kw_gpu_output(plan, 0);
  const uint32_t rank = out.ref.rank;
  self = kw_gpu_expand(&self, rank, out.ref.shape);
  mask = kw_gpu_expand(&mask, rank, out.ref.shape);
  kw_gpu_copy(plan, &out, &self);
  source = kw_gpu_contiguous(plan, &source, source.ref.dtype);
  const kw_gpu_tensor positions = positions_of(plan, &mask),
                      all = kw_gpu_strided(&source, rank, out.ref.shape, (int64_t[KW_MAX_RANK]){0});
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &masked_scatter_kernel, out.ref.dtype, &out,
                                            (const kw_gpu_tensor *[]){&positions, &all}, 2);
  kw_gpu_step_errors(step);
  kw_gpu_step_long(step, source.ref.numel);
  kw_gpu_step_int(step, 2);
  kw_gpu_step_error_code(step);
}

static const kw_gpu_op ops[] = {
    {"nonzero", lower_nonzero, 0, KW_GPU_MOVES, KW_DTYPES_REAL},
    {"masked_select", lower_masked_select, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"masked_scatter", lower_masked_scatter, 0, KW_GPU_MOVES | KW_KERNEL_DATA_ERRORS, KW_DTYPES_ANY},
    {0},
};

const kw_gpu_family kw_gpu_mask_family = {ops, {&mask_module}};

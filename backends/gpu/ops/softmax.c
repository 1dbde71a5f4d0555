/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax, log_softmax and their backwards: by rows where a row fits an item or a group, otherwise by reductions.
 */
#include "ops/softmax.h"

#include "kernel_sources.h"
#include "lower/lowering.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "ops/reduce.h"
#include "program/dtype.h"

static const kw_gpu_module softmax_module = {"softmax", KW_GPU_BY_DTYPE, KW_DTYPES_FLOAT, {kw_gpu_source_softmax}};
static const kw_gpu_module row_module = {"softmax_row",
                                         KW_GPU_RUNS_BY_DTYPE,
                                         KW_DTYPES_FLOAT,
                                         {kw_gpu_source_reduction, kw_gpu_source_row, kw_gpu_source_softmax_row}};

static const kw_gpu_kernel softmax_kernel = {&softmax_module, "kw_softmax_kernel"};
static const kw_gpu_kernel slope_kernel = {&softmax_module, "kw_softmax_slope_kernel"};
static const kw_gpu_kernel product_kernel = {&softmax_module, "kw_softmax_product_kernel"};

static const kw_gpu_kernel row_kernel = {&row_module, "kw_softmax_row_kernel"};
static const kw_gpu_kernel row_slope_kernel = {&row_module, "kw_softmax_row_slope_kernel"};

/* The set of dimensions that rows lie along; a tensor of rank 0 is a row of one. */
static uint32_t row_dims(const kw_gpu_tensor *tensor, uint32_t dim) {
  return tensor->ref.rank > 0 ? 1u << dim : 0;
}

/* One number for every row, in the compute type. */
static kw_gpu_tensor row_numbers(kw_gpu_plan *plan, const kw_gpu_tensor *in, uint32_t dim) {
  kw_tensor_ref ref = in->ref;
  if (ref.rank > 0) ref.shape[dim] = 1;
  return kw_gpu_temporary(plan, kw_gpu_compute_dtype(ref.dtype), ref.rank, ref.shape);
}

/* A number for every row, seen from each of the row's elements. */
static kw_gpu_tensor spread(const kw_gpu_tensor *numbers, const kw_gpu_tensor *in, uint32_t dim) {
  kw_gpu_tensor view = *numbers;
  view.ref.numel = in->ref.numel;
  if (view.ref.rank == 0) return view;
  view.ref.shape[dim] = in->ref.shape[dim];
  view.ref.strides[dim] = 0;
  return view;
}

void kw_gpu_softmax_rows(kw_gpu_plan *plan, const kw_gpu_tensor *in, uint32_t dim, kw_gpu_tensor *out_largest,
                         kw_gpu_tensor *out_sums) {
  *out_largest = row_numbers(plan, in, dim);
  *out_sums = row_numbers(plan, in, dim);
  kw_gpu_reduce(plan, KW_REDUCE_MAX, out_largest, in, row_dims(in, dim));
  kw_gpu_reduce_shifted(plan, KW_REDUCE_SUM_EXP, out_sums, in, row_dims(in, dim), out_largest, 1);
}

/* Whether its rows have elements side by side, and not too many. */
static bool has_rows(const kw_gpu_plan *plan, const kw_gpu_tensor *tensor, uint32_t dim) {
  return tensor->ref.rank > 0 && kw_gpu_row_fits(plan, tensor->ref.shape[dim]) &&
         (tensor->ref.shape[dim] == 1 || tensor->ref.strides[dim] == 1);
}

/* Rows by one launch; `result` is absent in the forward ops, whose values are not all here. */
static kw_gpu_step *rows(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, const kw_gpu_tensor *out,
                         const kw_gpu_tensor *in, const kw_gpu_tensor *result, uint32_t dim, int32_t form) {
  kw_reduction block;
  kw_gpu_lower_reduction(&out->ref, &in->ref, 1u << dim, true, &block);
  block.lanes = kw_gpu_row_lanes(plan, block.count);
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, in->ref.dtype);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_operand(step, in);
  if (result) kw_gpu_step_operand(step, result);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, form);
  kw_gpu_step_int(step, kw_gpu_streams(out));
  kw_gpu_step_rows(plan, step, block.outputs, block.lanes);
  return step;
}

static void forward(kw_gpu_plan *plan, const kw_gpu_tensor *out, const kw_gpu_tensor *in, uint32_t dim, int32_t form,
                    int64_t queries, int64_t seen) {
  kw_gpu_step *step = rows(plan, &row_kernel, out, in, NULL, dim, form);
  kw_gpu_step_long(step, queries);
  kw_gpu_step_long(step, seen);
}

void kw_gpu_softmax_weights(kw_gpu_plan *plan, const kw_gpu_tensor *scores, int64_t seen) {
  const uint32_t dim = scores->ref.rank - 1u;
  forward(plan, scores, scores, dim, KW_SOFTMAX_HIDES, seen == INT64_MAX ? 0 : scores->ref.shape[dim - 1], seen);
}

/* `code`: KW_SOFTMAX_LOGARITHM where logarithms are asked for, here and in the backward. */
static void lower_softmax(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor self = kw_gpu_input(plan, 0), out = kw_gpu_output(plan, 0), in = self;
  uint32_t dim = kw_gpu_dim(plan, 1, self.ref.rank);
  kw_gpu_tensor largest, sums;
  if (self.ref.dtype != out.ref.dtype) in = kw_gpu_contiguous(plan, &self, out.ref.dtype); /* half_to_float */
  if (has_rows(plan, &in, dim) && has_rows(plan, &out, dim)) {
    forward(plan, &out, &in, dim, op->code, 0, 0);
    return;
  }
  kw_gpu_softmax_rows(plan, &in, dim, &largest, &sums);
  largest = spread(&largest, &in, dim);
  sums = spread(&sums, &in, dim);
  kw_gpu_step *step = kw_gpu_step_elementwise(plan, &softmax_kernel, in.ref.dtype, &out,
                                              (const kw_gpu_tensor *[]){&in, &largest, &sums}, 3);
  kw_gpu_step_int(step, op->code);
}

/* Arguments: grad_output, output, dim, input_dtype. */
static void lower_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor grad = kw_gpu_input(plan, 0), output = kw_gpu_input(plan, 1), out = kw_gpu_output(plan, 0);
  uint32_t dim = kw_gpu_dim(plan, 2, grad.ref.rank);
  kw_dtype dtype = grad.ref.dtype;
  kw_gpu_tensor result = kw_gpu_staging(plan, &out, dtype);
  if (has_rows(plan, &grad, dim) && has_rows(plan, &result, dim) && kw_gpu_is_contiguous(&grad) &&
      kw_gpu_is_contiguous(&output)) {
    rows(plan, &row_slope_kernel, &result, &grad, &output, dim, op->code);
    kw_gpu_deliver(plan, &result, &out);
    return;
  }
  kw_gpu_tensor sums = row_numbers(plan, &grad, dim), terms = grad;
  if (!op->code) {
    terms = kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), grad.ref.rank, grad.ref.shape);
    kw_gpu_step_elementwise(plan, &product_kernel, dtype, &terms, (const kw_gpu_tensor *[]){&grad, &output}, 2);
  }
  kw_gpu_reduce(plan, KW_REDUCE_SUM, &sums, &terms, row_dims(&grad, dim));
  sums = spread(&sums, &grad, dim);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &slope_kernel, dtype, &result, (const kw_gpu_tensor *[]){&grad, &output, &sums}, 3);
  kw_gpu_step_int(step, op->code);
  kw_gpu_deliver(plan, &result, &out);
}

static const kw_gpu_op ops[] = {
    {"_softmax", lower_softmax, 0, 0, KW_DTYPES_FLOAT},
    {"_log_softmax", lower_softmax, KW_SOFTMAX_LOGARITHM, 0, KW_DTYPES_FLOAT},
    {"_softmax_backward_data", lower_backward, 0, 0, KW_DTYPES_FLOAT},
    {"_log_softmax_backward_data", lower_backward, KW_SOFTMAX_LOGARITHM, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_softmax_family = {ops, {&softmax_module, &row_module}};

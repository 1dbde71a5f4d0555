/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantisation: to integers and back, and matrix products of what it makes.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/matmul.h"
#include "ops/moves.h"

#include "kernels/quantize_args.kw"

static const kw_gpu_module quantize_module = {
    "quantize", KW_GPU_BY_DTYPE, KW_DTYPES_FLOAT32, {kw_gpu_source_quantize_args, kw_gpu_source_quantize}};
static const kw_gpu_kernel quantize_kernel = {&quantize_module, "kw_quantize_kernel"};
static const kw_gpu_kernel dequantize_kernel = {&quantize_module, "kw_dequantize_kernel"};
static const kw_gpu_kernel rescale_kernel = {&quantize_module, "kw_rescale_kernel"};

/* ---- To integers and back ---------------------------------------------------------------------------------------- */

/* `code` of an op: where quant_min stands among the arguments, behind the axis where there is one. */
enum { OF_TENSOR = 3, OF_CHANNELS = 4 };

/* Argument `index`, a scale or zero point, in the input's shape: one element, or one for each index along the axis. */
static kw_gpu_tensor parameter(const kw_gpu_plan *plan, const kw_gpu_op *op, uint32_t index, const kw_gpu_tensor *in) {
  kw_gpu_tensor given = kw_gpu_input(plan, index), channels = given;
  if (!kw_gpu_present(&given)) return given;
  channels.ref.rank = 0;
  if (op->code == OF_CHANNELS) {
    const uint32_t axis = kw_gpu_dim(plan, 3, in->ref.rank);
    channels.ref.rank = in->ref.rank;
    for (uint32_t d = 0; d < in->ref.rank; ++d) channels.ref.shape[d] = 1;
    channels.ref.shape[axis] = given.ref.shape[0];
    channels.ref.strides[axis] = given.ref.strides[0];
  }
  return kw_gpu_expand(&channels, in->ref.rank, in->ref.shape);
}

/* What both directions share; `dtype` is that of the floats, the other that of the integers. */
static kw_gpu_step *convert(kw_gpu_plan *plan, const kw_gpu_op *op, const kw_gpu_kernel *kernel, kw_dtype dtype,
                            kw_dtype integers) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_tensor scale = parameter(plan, op, 1, &in), zero = parameter(plan, op, 2, &in);
  kw_gpu_step *step =
      kw_gpu_step_stretched(plan, kernel, dtype, &out, (const kw_gpu_tensor *[]){&in, &scale, &zero}, 3);
  const bool numbers[2] = {!kw_gpu_present(&scale), !kw_gpu_present(&zero)};
  kw_gpu_step_opcode(step, (int32_t)integers);
  kw_gpu_step_int(step, (numbers[0] ? KW_QUANTIZE_SCALE_NUMBER : 0) | (numbers[1] ? KW_QUANTIZE_ZERO_NUMBER : 0) |
                            (zero.ref.dtype == KW_I64 ? KW_QUANTIZE_ZERO_LONG : 0));
  kw_gpu_step_float(step, numbers[0] ? (float)kw_gpu_real(plan, 1, 1) : 1);
  kw_gpu_step_long(step, numbers[1] ? kw_gpu_int(plan, 2, 0) : 0);
  return step;
}

static void lower_quantize(kw_gpu_plan *plan, const kw_gpu_op *op) {
  const kw_dtype in = plan->call->args[0].u.tensor->dtype, out = plan->call->outs[0]->dtype;
  kw_gpu_step *step = convert(plan, op, &quantize_kernel, in, out);
  kw_gpu_step_long(step, kw_gpu_int(plan, (uint32_t)op->code, 0));
  kw_gpu_step_long(step, kw_gpu_int(plan, (uint32_t)op->code + 1, 0));
}

static void lower_dequantize(kw_gpu_plan *plan, const kw_gpu_op *op) {
  const kw_dtype in = plan->call->args[0].u.tensor->dtype, out = plan->call->outs[0]->dtype;
  convert(plan, op, &dequantize_kernel, out, in);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* The stride of a scale: 0 where it is one for all. */
static int64_t scale_stride(const kw_gpu_tensor *scale) {
  return scale->ref.numel > 1 ? scale->ref.strides[0] : 0;
}

static void rescale(kw_gpu_plan *plan, const kw_gpu_tensor *sum) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), given = kw_gpu_input(plan, 4);
  kw_gpu_tensor scales[2] = {kw_gpu_input(plan, 2), kw_gpu_input(plan, 3)};
  kw_gpu_tensor bias = kw_gpu_contiguous(plan, &given, KW_F32);
  const kw_rescale block = {.rows = out.ref.shape[0],
                            .cols = out.ref.shape[1],
                            .out_stride = {out.ref.strides[0], out.ref.strides[1]},
                            .sum_stride = {sum->ref.strides[0], sum->ref.strides[1]},
                            .scale_stride = {scale_stride(&scales[0]), scale_stride(&scales[1])},
                            .bias_stride = 1};
  kw_gpu_step *step = kw_gpu_step_add(plan, &rescale_kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, sum);
  kw_gpu_step_operand(step, &scales[0]);
  kw_gpu_step_operand(step, &scales[1]);
  kw_gpu_step_operand(step, &bias);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step,
                  (sum->ref.dtype == KW_I32 ? KW_RESCALE_INT : 0) | (kw_gpu_present(&bias) ? KW_RESCALE_BIAS : 0));
  kw_gpu_step_items(step, out.ref.numel);
}

/* Sums in i32 of i8; f8 goes through f16, which holds both of its forms, unless there are instructions for it, and sums
 * in f32. */
static void lower_linear(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), input = kw_gpu_input(plan, 0), weight = kw_gpu_input(plan, 1);
  const bool integer = input.ref.dtype == KW_I8;
  if (!integer && !(op->flags & KW_GPU_MATRIX)) {
    input = kw_gpu_contiguous(plan, &input, KW_F16);
    weight = kw_gpu_contiguous(plan, &weight, KW_F16);
  }
  kw_gpu_tensor turned = kw_gpu_transpose(&weight);
  kw_gpu_tensor sum = kw_gpu_temporary(plan, integer ? KW_I32 : KW_F32, 2, out.ref.shape);
  kw_gpu_step_product_of(plan, op, input.ref.dtype, &(kw_gpu_product){.out = &sum, .a = &input, .b = &turned});
  rescale(plan, &sum);
}

static void lower_rescale(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), sum = kw_gpu_temporary(plan, KW_I32, 2, out.ref.shape);
  rescale(plan, &sum);
}

const kw_gpu_op kw_gpu_rescale_op = {"keyway::int8_linear", lower_rescale, 0, 0, KW_DTYPE_BIT(KW_I8)};

static const kw_gpu_op ops[] = {
    {"quantized_decomposed::quantize_per_tensor", lower_quantize, OF_TENSOR, 0, KW_DTYPES_FLOAT32},
    {"quantized_decomposed::quantize_per_tensor.tensor", lower_quantize, OF_TENSOR, 0, KW_DTYPES_FLOAT32},
    {"quantized_decomposed::quantize_per_channel", lower_quantize, OF_CHANNELS, 0, KW_DTYPES_FLOAT32},
    {"quantized_decomposed::dequantize_per_tensor", lower_dequantize, OF_TENSOR, 0, KW_DTYPES_QUANTIZED},
    {"quantized_decomposed::dequantize_per_tensor.tensor", lower_dequantize, OF_TENSOR, 0, KW_DTYPES_QUANTIZED},
    {"quantized_decomposed::dequantize_per_channel", lower_dequantize, OF_CHANNELS, 0, KW_DTYPES_QUANTIZED},
    {"keyway::int8_linear", lower_linear, 0, 0, KW_DTYPE_BIT(KW_I8)},
    {"keyway::f8_linear", lower_linear, 0, 0, KW_DTYPES_F8},
    {0},
};

const kw_gpu_op kw_gpu_matrix_linears[] = {
    {"keyway::int8_linear", lower_linear, KW_MATH_HIGHEST, KW_GPU_MATRIX, KW_DTYPE_BIT(KW_I8)},
    {"keyway::f8_linear", lower_linear, KW_MATH_HIGHEST, KW_GPU_MATRIX, KW_DTYPES_F8},
    {0},
};

const kw_gpu_family kw_gpu_quantize_family = {ops, {&quantize_module}};

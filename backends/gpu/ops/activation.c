/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations with parameters, gates, and the backward ops of all activations.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "program/dtype.h"

static const kw_gpu_module activation_module = {
    "activation",
    KW_GPU_RUNS_BY_DTYPE,
    KW_DTYPES_NUM,
    {kw_gpu_source_sigmoid, kw_gpu_source_expm1, kw_gpu_source_normal, kw_gpu_source_activation, kw_gpu_source_gated}};

static const kw_gpu_kernel activation_kernel = {&activation_module, "kw_activation_kernel"};
static const kw_gpu_kernel backward_kernel = {&activation_module, "kw_activation_backward_kernel"};
static const kw_gpu_kernel gated_kernel = {&activation_module, "kw_gated_kernel"};

/* Adds the Scalars among three arguments from `first` on; a 0 for what is none. */
static void step_scalars(kw_gpu_plan *plan, kw_gpu_step *step, uint32_t first) {
  for (uint32_t k = 0; k < 3; ++k) kw_gpu_step_scalar(plan, step, kw_gpu_argument(plan, first + k), 0);
}

static void lower_activation(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &activation_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&in}, 1);
  kw_gpu_step_opcode(step, op->code);
  step_scalars(plan, step, 1);
}

/* ---- Backward ---------------------------------------------------------------------------------------------------- */

/* `in` is the argument with the activation's input or result, `scalars` the first Scalar. */
static void backward(kw_gpu_plan *plan, int32_t opcode, uint32_t in, uint32_t scalars) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0), x = kw_gpu_input(plan, in);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &backward_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&grad, &x}, 2);
  kw_gpu_step_opcode(step, opcode);
  step_scalars(plan, step, scalars);
}

static void lower_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  backward(plan, op->code, 1, 2);
}

static void lower_gelu_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  bool tanh_form = kw_gpu_choice(plan, 2, (const char *[]){"none", "tanh", NULL}) == 1;
  backward(plan, tanh_form ? KW_BACKWARD_GELU_TANH : op->code, 1, 2);
}

/* grad_output, alpha, scale, input_scale, is_result, self_or_result. */
static void lower_elu_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  backward(plan, kw_gpu_bool(plan, 4, false) ? KW_BACKWARD_ELU_RESULT : op->code, 5, 1);
}

/* ---- Gates ------------------------------------------------------------------------------------------------------- */

/* `grad` is NULL in the forward ops. */
static void gated(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *factor,
                  const kw_gpu_tensor *gate, const kw_gpu_tensor *grad) {
  kw_gpu_step *step = kw_gpu_step_elementwise(plan, &gated_kernel, out->ref.dtype, out,
                                              (const kw_gpu_tensor *[]){factor, gate, grad}, 3);
  kw_gpu_step_int(step, opcode);
}

static void lower_swiglu(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), gate = kw_gpu_input(plan, 0), factor = kw_gpu_input(plan, 1);
  gated(plan, op->code, &out, &factor, &gate, NULL);
}

/* grad_output, gate, up; the gradients in gate and up. */
static void lower_swiglu_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor grad = kw_gpu_input(plan, 0), gate = kw_gpu_input(plan, 1), factor = kw_gpu_input(plan, 2);
  kw_gpu_tensor in_gate = kw_gpu_output(plan, 0), in_factor = kw_gpu_output(plan, 1);
  if (kw_gpu_present(&in_gate)) gated(plan, op->code, &in_gate, &factor, &gate, &grad);
  if (kw_gpu_present(&in_factor)) gated(plan, KW_GATED_SWIGLU_FACTOR, &in_factor, &factor, &gate, &grad);
}

/* The first (0) or second (1) half of a tensor along a dimension. */
static kw_gpu_tensor half_of(const kw_gpu_tensor *tensor, uint32_t dim, int64_t which) {
  kw_gpu_tensor half = *tensor;
  half.ref.shape[dim] /= 2;
  half.ref.numel /= 2;
  half.at.offset += (uint64_t)(which * half.ref.shape[dim] * half.ref.strides[dim]) * kw_gpu_dtype_size(half.ref.dtype);
  return half;
}

static void lower_glu(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  uint32_t dim = kw_gpu_dim(plan, 1, in.ref.rank);
  kw_gpu_tensor factor = half_of(&in, dim, 0), gate = half_of(&in, dim, 1);
  gated(plan, op->code, &out, &factor, &gate, NULL);
}

static void lower_glu_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0), in = kw_gpu_input(plan, 1);
  uint32_t dim = kw_gpu_dim(plan, 2, in.ref.rank);
  kw_gpu_tensor factor = half_of(&in, dim, 0), gate = half_of(&in, dim, 1);
  kw_gpu_tensor in_factor = half_of(&out, dim, 0), in_gate = half_of(&out, dim, 1);
  gated(plan, op->code, &in_gate, &factor, &gate, &grad);
  gated(plan, KW_GATED_GLU_FACTOR, &in_factor, &factor, &gate, &grad);
}

static const kw_gpu_op ops[] = {
    {"leaky_relu", lower_activation, KW_ACTIVATION_LEAKY_RELU, 0, KW_DTYPES_FLOAT},
    {"elu", lower_activation, KW_ACTIVATION_ELU, 0, KW_DTYPES_FLOAT},
    {"softplus", lower_activation, KW_ACTIVATION_SOFTPLUS, 0, KW_DTYPES_FLOAT},
    {"hardswish", lower_activation, KW_ACTIVATION_HARDSWISH, 0, KW_DTYPES_FLOAT},
    {"threshold", lower_activation, KW_ACTIVATION_THRESHOLD, 0, KW_DTYPES_NUM},
    {"sigmoid_backward", lower_backward, KW_BACKWARD_SIGMOID, 0, KW_DTYPES_FLOAT},
    {"tanh_backward", lower_backward, KW_BACKWARD_TANH, 0, KW_DTYPES_FLOAT},
    {"gelu_backward", lower_gelu_backward, KW_BACKWARD_GELU, 0, KW_DTYPES_FLOAT},
    {"silu_backward", lower_backward, KW_BACKWARD_SILU, 0, KW_DTYPES_FLOAT},
    {"threshold_backward", lower_backward, KW_BACKWARD_THRESHOLD, 0, KW_DTYPES_NUM},
    {"leaky_relu_backward", lower_backward, KW_BACKWARD_LEAKY_RELU, 0, KW_DTYPES_FLOAT},
    {"elu_backward", lower_elu_backward, KW_BACKWARD_ELU, 0, KW_DTYPES_FLOAT},
    {"hardtanh_backward", lower_backward, KW_BACKWARD_HARDTANH, 0, KW_DTYPES_FLOAT},
    {"softplus_backward", lower_backward, KW_BACKWARD_SOFTPLUS, 0, KW_DTYPES_FLOAT},
    {"keyway::swiglu", lower_swiglu, KW_GATED_SWIGLU, 0, KW_DTYPES_FLOAT},
    {"keyway::swiglu_backward", lower_swiglu_backward, KW_GATED_SWIGLU_GATE, 0, KW_DTYPES_FLOAT},
    {"glu", lower_glu, KW_GATED_GLU, 0, KW_DTYPES_FLOAT},
    {"glu_backward", lower_glu_backward, KW_GATED_GLU_GATE, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_activation_family = {ops, {&activation_module}};

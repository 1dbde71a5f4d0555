/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "lowering.h"
#include "scalar.h"

#include <stdio.h>
#include <string.h>

/* A reduction of more elements than REDUCTION_SINGLE takes two launches, of REDUCTION_CHUNK elements a group: more
 * groups run at once, and an item adds up no more than REDUCTION_CHUNK / KW_LOCAL_REDUCTION terms in a row. */
#define REDUCTION_SINGLE 8192
#define REDUCTION_CHUNK 4096

/* ---- Running ----------------------------------------------------------------------------------------------------- */

kw_status kw_gpu_plan_compile(kw_gpu_device *device, kw_gpu_plan *plan) {
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    kw_gpu_step *step = &plan->steps[i];
    kw_status status = kw_gpu_kernel_find(device, step->id, step->dtype, &step->kernel);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

static kw_status step_run(const kw_gpu_step *step, const kw_call *call) {
  kw_gpu_device *device = call->device;
  kw_gpu_arg args[KW_GPU_OPERANDS + 1 + 4];
  uint32_t count = 0;
  union {
    kw_i64 offset[KW_GPU_OPERANDS];
    unsigned char bytes[sizeof step->block];
  } block;
  memcpy(block.bytes, &step->block, step->block_size);
  for (uint32_t k = 0; k < step->operand_count; ++k) {
    int8_t from = step->operands[k];
    if (from == KW_GPU_FROM_WORKSPACE) {
      args[count++] = (kw_gpu_arg){.mem = call->workspace};
      block.offset[k] = (kw_i64)call->workspace_offset;
    } else {
      const kw_tensor_ref *tensor = from == KW_GPU_FROM_OUTPUT ? call->outs[0] : call->args[from].u.tensor;
      args[count++] = (kw_gpu_arg){.mem = tensor->mem};
      block.offset[k] = (kw_i64)tensor->offset;
    }
  }
  args[count++] = (kw_gpu_arg){.data = &block, .size = step->block_size};
  for (uint32_t v = 0; v < step->value_count; ++v)
    args[count++] = (kw_gpu_arg){.data = step->values[v].bits, .size = step->values[v].size};
  kw_gpu_launch launch = {.kernel = step->kernel,
                          .args = args,
                          .arg_count = count,
                          .local = {step->local[0], step->local[1]},
                          .groups = {step->groups[0], step->groups[1]},
                          .call_id = call->call_id};
  return device->driver->launch(device, call->stream, &launch);
}

kw_status kw_gpu_plan_run(const kw_gpu_plan *plan, const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  if (plan->kind == KW_GPU_PLAN_FILL)
    return plan->memory->fill(call->device, call->stream, out->mem, out->offset, plan->bytes, plan->pattern,
                              plan->pattern_size);
  if (plan->kind == KW_GPU_PLAN_COPY) {
    const kw_tensor_ref *in = call->args[1].u.tensor;
    kw_copy_info copy = {.struct_size = sizeof copy,
                         .kind = KW_COPY_DEVICE_TO_DEVICE,
                         .dst_mem = out->mem,
                         .dst_offset = out->offset,
                         .src_mem = in->mem,
                         .src_offset = in->offset,
                         .size = plan->bytes};
    return plan->memory->copy(call->device, call->stream, &copy);
  }
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    kw_status status = step_run(&plan->steps[i], call);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

/* ---- Pieces of a lowering ---------------------------------------------------------------------------------------- */

static kw_status refuse(const kw_call *call, const char *why) {
  const kw_host_api *host = ((kw_gpu_device *)call->device)->host;
  char text[160];
  snprintf(text, sizeof text, "%s: the portable kernel %s", call->op, why);
  return host->set_error(host->ctx, KW_ERR_NOT_IMPLEMENTED, text);
}

static const kw_tensor_ref *tensor_arg(const kw_call *call, uint32_t index) {
  return index < call->arg_count && call->args[index].tag == KW_TAG_TENSOR ? call->args[index].u.tensor : NULL;
}

static kw_gpu_step *step_add(kw_gpu_plan *plan, kw_gpu_kernel_id id, kw_dtype dtype) {
  kw_gpu_step *step = &plan->steps[plan->step_count++];
  step->id = id;
  step->dtype = dtype;
  return step;
}

static void step_operand(kw_gpu_step *step, int from) {
  step->operands[step->operand_count++] = (int8_t)from;
}

static void step_int(kw_gpu_step *step, int32_t value) {
  memcpy(step->values[step->value_count].bits, &value, sizeof value);
  step->values[step->value_count++].size = sizeof value;
}

/* A Scalar argument in the step's compute dtype; `value` NULL gives `otherwise`. */
static kw_status step_scalar(kw_gpu_step *step, const kw_value *value, int64_t otherwise) {
  kw_value constant = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = otherwise};
  if (!value || value->tag != KW_TAG_SCALAR) value = &constant;
  kw_status status = kw_gpu_scalar_operand(value, step->dtype, step->values[step->value_count].bits,
                                           &step->values[step->value_count].size);
  ++step->value_count;
  return status;
}

/* Operand 0 is the output, operand k the tensor argument args[k - 1] or, where that is negative or no tensor, a
 * stand-in that the kernel does not read. */
static void step_elementwise(kw_gpu_step *step, const kw_call *call, const int *args, uint32_t arg_count) {
  const kw_tensor_ref *operands[KW_GPU_OPERANDS] = {call->outs[0]};
  step_operand(step, KW_GPU_FROM_OUTPUT);
  for (uint32_t k = 0; k < arg_count; ++k) {
    operands[k + 1] = args[k] >= 0 ? tensor_arg(call, (uint32_t)args[k]) : NULL;
    step_operand(step, operands[k + 1] ? args[k] : KW_GPU_FROM_OUTPUT);
  }
  kw_gpu_lower_elementwise(operands, arg_count + 1, &step->block.elementwise);
  step->block.elementwise.flat = kw_gpu_is_flat(&step->block.elementwise, arg_count + 1);
  step->block_size = sizeof step->block.elementwise;
  step->local[0] = KW_LOCAL_ELEMENTWISE;
  step->local[1] = 1;
  step->groups[0] = ((uint64_t)step->block.elementwise.numel + KW_LOCAL_ELEMENTWISE - 1) / KW_LOCAL_ELEMENTWISE;
  step->groups[1] = 1;
}

static const char scalar_complaint[] = "takes no complex Scalar here";
static const char mixed_complaint[] = "takes tensors of one dtype only";

/* Whether every tensor among the first `count` arguments has this dtype. */
static bool same_dtype(const kw_call *call, uint32_t count, kw_dtype dtype) {
  for (uint32_t i = 0; i < count; ++i) {
    const kw_tensor_ref *tensor = tensor_arg(call, i);
    if (tensor && tensor->dtype != dtype) return false;
  }
  return true;
}

/* ---- Moves ------------------------------------------------------------------------------------------------------- */

kw_status kw_gpu_lower_fill(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  (void)op;
  kw_dtype dtype = call->outs[0]->dtype;
  kw_gpu_step *step = step_add(out_plan, KW_GPU_FILL, dtype);
  step_elementwise(step, call, NULL, 0);
  kw_status status = kw_gpu_scalar_store(&call->args[1], dtype, out_plan->pattern);
  if (status != KW_OK) return refuse(call, scalar_complaint);
  out_plan->pattern_size = kw_gpu_dtype_size(dtype);
  if (out_plan->memory->fill && kw_gpu_is_flat(&step->block.elementwise, 1)) {
    out_plan->kind = KW_GPU_PLAN_FILL;
    out_plan->bytes = (uint64_t)step->block.elementwise.numel * out_plan->pattern_size;
    out_plan->step_count = 0;
  }
  for (int half = 0; half < 2; ++half) {
    memcpy(step->values[half].bits, out_plan->pattern + 8 * half, 8);
    step->values[half].size = 8;
  }
  step->value_count = 2;
  return KW_OK;
}

kw_status kw_gpu_lower_copy(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  (void)op;
  const uint64_t doubles = KW_DTYPE_BIT(KW_F64) | KW_DTYPE_BIT(KW_C128);
  kw_gpu_device *device = call->device;
  kw_dtype to = call->outs[0]->dtype, from = call->args[1].u.tensor->dtype;
  bool convert = to != from;
  kw_gpu_step *step = step_add(out_plan, convert ? KW_GPU_CONVERT : KW_GPU_COPY, to);
  step_elementwise(step, call, (int[]){1}, 1);
  if (convert) {
    if (!device->has_f64 && (KW_DTYPE_BIT(to) | KW_DTYPE_BIT(from)) & doubles)
      return refuse(call, "cannot convert f64: this device has no double precision");
    step_int(step, from);
    step_int(step, to);
  } else if (kw_gpu_is_flat(&step->block.elementwise, 2)) {
    out_plan->kind = KW_GPU_PLAN_COPY;
    out_plan->bytes = (uint64_t)step->block.elementwise.numel * kw_gpu_dtype_size(to);
    out_plan->step_count = 0;
  }
  return KW_OK;
}

kw_status kw_gpu_lower_where(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  (void)op;
  kw_dtype dtype = call->outs[0]->dtype, condition = call->args[0].u.tensor->dtype;
  if (condition != KW_BOOL && condition != KW_U8) return refuse(call, "takes a condition of dtype bool or u8 only");
  if (call->args[1].u.tensor->dtype != dtype || call->args[2].u.tensor->dtype != dtype)
    return refuse(call, mixed_complaint);
  step_elementwise(step_add(out_plan, KW_GPU_WHERE, dtype), call, (int[]){0, 1, 2}, 3);
  return KW_OK;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static kw_status lower_unary(const kw_call *call, int32_t opcode, kw_gpu_plan *out_plan) {
  kw_dtype dtype = call->outs[0]->dtype;
  if (!same_dtype(call, 1, dtype)) return refuse(call, mixed_complaint);
  kw_gpu_step *step = step_add(out_plan, KW_GPU_UNARY, dtype);
  step_elementwise(step, call, (int[]){0}, 1);
  step_int(step, opcode);
  return KW_OK;
}

kw_status kw_gpu_lower_unary(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  return lower_unary(call, op->opcode, out_plan);
}

kw_status kw_gpu_lower_gelu(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  const char *approximate = call->args[1].tag == KW_TAG_STRING ? call->args[1].u.s : "none";
  if (strcmp(approximate, "tanh") == 0) return lower_unary(call, KW_UNARY_GELU_TANH, out_plan);
  if (strcmp(approximate, "none") != 0) return refuse(call, "knows approximate='none' and 'tanh' only");
  return lower_unary(call, op->opcode, out_plan);
}

/* The head that binary ops and comparisons share: operands a and b, either of them a Scalar. */
static kw_status lower_pair(const kw_call *call, kw_gpu_kernel_id id, kw_dtype dtype, int32_t opcode,
                            kw_gpu_plan *out_plan, kw_gpu_step **out_step) {
  bool a_scalar = call->args[0].tag == KW_TAG_SCALAR, b_scalar = call->args[1].tag == KW_TAG_SCALAR;
  if (!same_dtype(call, 2, dtype)) return refuse(call, mixed_complaint);
  kw_gpu_step *step = step_add(out_plan, id, dtype);
  step_elementwise(step, call, (int[]){0, 1}, 2);
  step_int(step, opcode);
  step_int(step, (a_scalar ? KW_SCALAR_A : 0) | (b_scalar ? KW_SCALAR_B : 0));
  if (step_scalar(step, &call->args[a_scalar ? 0 : 1], 0) != KW_OK) return refuse(call, scalar_complaint);
  *out_step = step;
  return KW_OK;
}

static kw_status lower_binary(const kw_call *call, int32_t opcode, int32_t alpha, kw_gpu_plan *out_plan) {
  kw_gpu_step *step;
  kw_status status = lower_pair(call, opcode == KW_BINARY_POW ? KW_GPU_POW : KW_GPU_BINARY, call->outs[0]->dtype,
                                opcode, out_plan, &step);
  if (status != KW_OK) return status;
  if (step_scalar(step, alpha >= 0 ? &call->args[alpha] : NULL, 1) != KW_OK) return refuse(call, scalar_complaint);
  return KW_OK;
}

kw_status kw_gpu_lower_binary(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  const kw_value *exponent = &call->args[1];
  bool integer = kw_gpu_compute_dtype(call->outs[0]->dtype) < KW_F16;
  if (op->opcode == KW_BINARY_POW && integer && exponent->tag == KW_TAG_SCALAR && exponent->kind == KW_SCALAR_I64 &&
      exponent->u.i < 0)
    return refuse(call, "raises integers to non-negative powers only");
  return lower_binary(call, op->opcode, op->alpha, out_plan);
}

kw_status kw_gpu_lower_div_mode(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  const char *mode = call->args[2].tag == KW_TAG_STRING ? call->args[2].u.s : NULL;
  if (!mode) return lower_binary(call, op->opcode, op->alpha, out_plan);
  if (strcmp(mode, "trunc") == 0) return lower_binary(call, KW_BINARY_DIV_TRUNC, op->alpha, out_plan);
  if (strcmp(mode, "floor") == 0) return lower_binary(call, KW_BINARY_DIV_FLOOR, op->alpha, out_plan);
  return refuse(call, "knows rounding_mode None, 'trunc' and 'floor' only");
}

kw_status kw_gpu_lower_compare(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  kw_gpu_step *step;
  return lower_pair(call, KW_GPU_COMPARE, call->args[0].u.tensor->dtype, op->opcode, out_plan, &step);
}

/* x == 0 */
kw_status kw_gpu_lower_logical_not(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  kw_gpu_step *step = step_add(out_plan, KW_GPU_COMPARE, call->args[0].u.tensor->dtype);
  step_elementwise(step, call, (int[]){0, -1}, 2);
  step_int(step, op->opcode);
  step_int(step, KW_SCALAR_B);
  return step_scalar(step, NULL, 0);
}

/* An integer bound past the dtype's range is no bound: as a float it saturates where it would wrap. */
static kw_value saturating_bound(const kw_value *value, kw_dtype dtype) {
  kw_value bound = *value;
  if (bound.tag == KW_TAG_SCALAR && bound.kind == KW_SCALAR_I64 && kw_gpu_compute_dtype(dtype) == KW_I32) {
    bound.kind = KW_SCALAR_F64;
    bound.u.f = (double)bound.u.i;
  }
  return bound;
}

kw_status kw_gpu_lower_clamp(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  (void)op;
  kw_dtype dtype = call->outs[0]->dtype;
  const kw_value low = saturating_bound(&call->args[1], dtype), high = saturating_bound(&call->args[2], dtype);
  bool scalar = low.tag == KW_TAG_SCALAR || high.tag == KW_TAG_SCALAR;
  if (!same_dtype(call, 3, dtype)) return refuse(call, mixed_complaint);
  kw_gpu_step *step = step_add(out_plan, KW_GPU_CLAMP, dtype);
  step_elementwise(step, call, (int[]){0, 1, 2}, 3);
  step_int(step, (low.tag != KW_TAG_NONE ? KW_CLAMP_MIN : 0) | (high.tag != KW_TAG_NONE ? KW_CLAMP_MAX : 0) |
                     (scalar ? KW_CLAMP_SCALAR : 0));
  if (step_scalar(step, &low, 0) != KW_OK || step_scalar(step, &high, 0) != KW_OK)
    return refuse(call, scalar_complaint);
  return KW_OK;
}

/* ---- Reductions and products ------------------------------------------------------------------------------------- */

/* The dimensions that argument `index` names, as a set of bits; none or an empty list means all. */
static uint32_t reduced_dims(const kw_call *call, uint32_t index, uint32_t rank) {
  uint32_t all = (1u << rank) - 1u, set = 0;
  if (index >= call->arg_count) return all;
  const kw_value *value = &call->args[index];
  uint32_t count = value->tag == KW_TAG_INT ? 1 : value->tag == KW_TAG_INT_LIST ? value->count : 0;
  if (count == 0) return all;
  for (uint32_t i = 0; i < count; ++i) {
    int64_t dim = value->tag == KW_TAG_INT ? value->u.i : value->u.ints[i];
    if (rank > 0) set |= 1u << (dim < 0 ? dim + (int64_t)rank : dim);
  }
  return set;
}

/* One launch, or two with partial results of `partial_size` bytes between them. */
static void lower_reduction(const kw_call *call, kw_gpu_kernel_id id, uint32_t reduced, bool ordered,
                            uint32_t partial_size, kw_gpu_plan *out_plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor;
  kw_gpu_step *step = step_add(out_plan, id, in->dtype);
  kw_reduction *block = &step->block.reduction;
  uint64_t outputs = (uint64_t)call->outs[0]->numel;
  kw_gpu_lower_reduction(call->outs[0], in, reduced, ordered, block);
  step->block_size = sizeof *block;
  step_operand(step, KW_GPU_FROM_OUTPUT);
  step_operand(step, 0);
  step_operand(step, KW_GPU_FROM_OUTPUT);
  step->local[0] = KW_LOCAL_REDUCTION;
  step->local[1] = 1;
  step->groups[0] = outputs;
  step->groups[1] = 1;
  if (block->inner_numel <= REDUCTION_SINGLE) return;

  kw_gpu_step *second = step_add(out_plan, id, in->dtype);
  step->operands[2] = KW_GPU_FROM_WORKSPACE;
  *second = *step;
  block->chunk = REDUCTION_CHUNK;
  block->chunks = (block->inner_numel + REDUCTION_CHUNK - 1) / REDUCTION_CHUNK;
  block->write_partial = 1;
  step->groups[0] = outputs * (uint64_t)block->chunks;
  second->block.reduction.read_partial = 1;
  second->block.reduction.count = block->chunks;
  second->block.reduction.chunk = block->chunks;
  out_plan->workspace = step->groups[0] * partial_size;
}

/* The opcode of a reduction in every step. */
static kw_status reduction_values(kw_gpu_plan *plan, int32_t opcode) {
  for (uint32_t i = 0; i < plan->step_count; ++i) step_int(&plan->steps[i], opcode);
  return KW_OK;
}

kw_status kw_gpu_lower_sum(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor;
  bool all = strcmp(op->name, "sum") == 0;
  if (in->dtype != call->outs[0]->dtype) return refuse(call, mixed_complaint);
  uint32_t reduced = all ? reduced_dims(call, UINT32_MAX, in->rank) : reduced_dims(call, 1, in->rank);
  lower_reduction(call, KW_GPU_REDUCE, reduced, false, kw_gpu_dtype_size(kw_gpu_compute_dtype(in->dtype)), out_plan);
  return reduction_values(out_plan, KW_REDUCE_SUM);
}

static kw_status refuse_empty(const kw_call *call) {
  return refuse(call, "finds no largest element among none; reduce over a dimension that has elements");
}

kw_status kw_gpu_lower_amax(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  (void)op;
  const kw_tensor_ref *in = call->args[0].u.tensor;
  if (in->numel == 0) return refuse_empty(call);
  lower_reduction(call, KW_GPU_REDUCE, reduced_dims(call, 1, in->rank), false,
                  kw_gpu_dtype_size(kw_gpu_compute_dtype(in->dtype)), out_plan);
  return reduction_values(out_plan, KW_REDUCE_MAX);
}

kw_status kw_gpu_lower_argmax(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  (void)op;
  const kw_tensor_ref *in = call->args[0].u.tensor;
  if (in->numel == 0) return refuse_empty(call);
  lower_reduction(call, KW_GPU_ARGMAX, reduced_dims(call, 1, in->rank), true, sizeof(kw_i64), out_plan);
  return KW_OK;
}

kw_status kw_gpu_lower_mm(const kw_gpu_op *op, const kw_call *call, kw_gpu_plan *out_plan) {
  (void)op;
  kw_dtype dtype = call->outs[0]->dtype;
  if (!same_dtype(call, 2, dtype)) return refuse(call, mixed_complaint);
  kw_gpu_step *step = step_add(out_plan, KW_GPU_MM, dtype);
  kw_gpu_lower_matmul(call->outs[0], call->args[0].u.tensor, call->args[1].u.tensor, &step->block.matmul);
  step->block_size = sizeof step->block.matmul;
  step_operand(step, KW_GPU_FROM_OUTPUT);
  step_operand(step, 0);
  step_operand(step, 1);
  step->local[0] = step->local[1] = KW_TILE;
  step->groups[0] = ((uint64_t)step->block.matmul.cols + KW_TILE - 1) / KW_TILE;
  step->groups[1] = ((uint64_t)step->block.matmul.rows + KW_TILE - 1) / KW_TILE;
  return KW_OK;
}

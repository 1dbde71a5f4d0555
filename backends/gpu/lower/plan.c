/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's parts: reading the call, tensors between steps, steps, and running them.
 */
#include "lower/plan.h"

#include "lower/lowering.h"
#include "lower/record.h"
#include "lower/scalar.h"
#include "program/dtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKSPACE_ALIGNMENT 256u

/* Results of at least so many bytes are written past the caches, which they would not fit in: half of what they cost.
 */
#define STREAM_BYTES (4u << 20)

/* ---- Reading the call -------------------------------------------------------------------------------------------- */

const char kw_gpu_complex_scalar[] = "takes no complex Scalar here";

static kw_gpu_device *device_of(const kw_gpu_plan *plan) {
  return plan->call->device;
}

static void run_out_of_memory(kw_gpu_plan *plan) {
  const kw_host_api *host = device_of(plan)->host;
  if (plan->status == KW_OK)
    plan->status = host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a plan");
}

void kw_gpu_refuse(kw_gpu_plan *plan, const char *why) {
  const kw_host_api *host = device_of(plan)->host;
  char text[200];
  if (plan->status != KW_OK) return;
  snprintf(text, sizeof text, "%s: the portable kernel %s", plan->call->op, why);
  plan->status = host->set_error(host->ctx, KW_ERR_NOT_IMPLEMENTED, text);
}

const kw_value *kw_gpu_argument(const kw_gpu_plan *plan, uint32_t index) {
  return index < plan->call->arg_count ? &plan->call->args[index] : NULL;
}

bool kw_gpu_given(const kw_gpu_plan *plan, uint32_t index) {
  const kw_value *value = kw_gpu_argument(plan, index);
  return value && value->tag != KW_TAG_NONE;
}

int64_t kw_gpu_int(const kw_gpu_plan *plan, uint32_t index, int64_t otherwise) {
  return kw_gpu_given(plan, index) ? plan->call->args[index].u.i : otherwise;
}

bool kw_gpu_bool(const kw_gpu_plan *plan, uint32_t index, bool otherwise) {
  return kw_gpu_given(plan, index) ? plan->call->args[index].u.b : otherwise;
}

double kw_gpu_real(const kw_gpu_plan *plan, uint32_t index, double otherwise) {
  if (!kw_gpu_given(plan, index)) return otherwise;
  const kw_value *value = &plan->call->args[index];
  if (value->tag != KW_TAG_SCALAR) return value->u.f;
  return value->kind == KW_SCALAR_F64    ? value->u.f
         : value->kind == KW_SCALAR_BOOL ? value->u.b
         : value->kind == KW_SCALAR_I64  ? (double)value->u.i
                                         : value->u.c[0];
}

int32_t kw_gpu_choice(kw_gpu_plan *plan, uint32_t index, const char *const *names) {
  if (!kw_gpu_given(plan, index)) return 0;
  for (int32_t i = 0; names[i]; ++i)
    if (strcmp(plan->call->args[index].u.s, names[i]) == 0) return i;
  char why[100];
  snprintf(why, sizeof why, "does not know '%.60s'", plan->call->args[index].u.s);
  kw_gpu_refuse(plan, why);
  return 0;
}

uint32_t kw_gpu_dim(const kw_gpu_plan *plan, uint32_t index, uint32_t rank) {
  int64_t dim = kw_gpu_int(plan, index, 0);
  return (uint32_t)(dim < 0 ? dim + (rank > 0 ? rank : 1) : dim);
}

uint32_t kw_gpu_dims(const kw_gpu_plan *plan, uint32_t index, uint32_t rank) {
  uint32_t all = (1u << rank) - 1u, set = 0;
  const kw_value *value = kw_gpu_argument(plan, index);
  uint32_t count = !value ? 0 : value->tag == KW_TAG_INT ? 1 : value->tag == KW_TAG_INT_LIST ? value->count : 0;
  if (count == 0) return all;
  for (uint32_t i = 0; i < count; ++i) {
    int64_t dim = value->tag == KW_TAG_INT ? value->u.i : value->u.ints[i];
    if (rank > 0) set |= 1u << (dim < 0 ? dim + (int64_t)rank : dim);
  }
  return set;
}

kw_gpu_tensor kw_gpu_input(const kw_gpu_plan *plan, uint32_t index) {
  const kw_value *value = kw_gpu_argument(plan, index);
  kw_gpu_tensor tensor = {.at.from = KW_GPU_NOTHING};
  if (value && value->tag == KW_TAG_TENSOR && value->u.tensor) {
    tensor.at = (kw_gpu_location){.from = KW_GPU_ARGUMENT, .index = index};
    tensor.ref = *value->u.tensor;
  }
  return tensor;
}

kw_gpu_tensor kw_gpu_entry(const kw_gpu_plan *plan, uint32_t index, uint32_t entry) {
  kw_gpu_tensor tensor = {.at.from = KW_GPU_NOTHING};
  const kw_tensor_ref *ref = plan->call->args[index].u.tensors[entry];
  if (ref) {
    tensor.at = (kw_gpu_location){.from = KW_GPU_ARGUMENT, .index = index, .entry = entry};
    tensor.ref = *ref;
  }
  return tensor;
}

kw_gpu_tensor kw_gpu_output(const kw_gpu_plan *plan, uint32_t index) {
  kw_gpu_tensor tensor = {.at.from = KW_GPU_NOTHING};
  if (index < plan->call->out_count && plan->call->outs[index]) {
    tensor.at = (kw_gpu_location){.from = KW_GPU_RESULT, .index = index};
    tensor.ref = *plan->call->outs[index];
  }
  return tensor;
}

bool kw_gpu_present(const kw_gpu_tensor *tensor) {
  return tensor->at.from != KW_GPU_NOTHING;
}

bool kw_gpu_is_contiguous(const kw_gpu_tensor *tensor) {
  const kw_tensor_ref *ref = &tensor->ref;
  int64_t stride = 1;
  if (ref->numel == 0) return true;
  for (uint32_t d = ref->rank; d-- > 0;) {
    if (ref->shape[d] == 1) continue;
    if (ref->strides[d] != stride) return false;
    stride *= ref->shape[d];
  }
  return true;
}

bool kw_gpu_streams(const kw_gpu_tensor *out) {
  return (uint64_t)out->ref.numel * kw_gpu_dtype_size(out->ref.dtype) >= STREAM_BYTES;
}

/* ---- Tensors between steps --------------------------------------------------------------------------------------- */

static kw_tensor_ref contiguous_ref(kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = dtype, .rank = (uint8_t)rank, .numel = 1};
  for (uint32_t d = rank; d-- > 0;) {
    ref.shape[d] = shape[d];
    ref.strides[d] = ref.numel;
    ref.numel *= shape[d];
  }
  return ref;
}

kw_gpu_tensor kw_gpu_temporary(kw_gpu_plan *plan, kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  kw_gpu_tensor tensor = {.at = {.from = KW_GPU_WORKSPACE, .offset = plan->workspace},
                          .ref = contiguous_ref(dtype, rank, shape)};
  uint64_t bytes = (uint64_t)tensor.ref.numel * kw_gpu_dtype_size(dtype);
  if (bytes == 0) bytes = 1; /* a location all the same: it may be an operand of a step on other tensors */
  plan->workspace += (bytes + WORKSPACE_ALIGNMENT - 1) / WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
  return tensor;
}

kw_gpu_tensor kw_gpu_reshape(const kw_gpu_tensor *tensor, uint32_t rank, const int64_t *shape) {
  return (kw_gpu_tensor){.at = tensor->at, .ref = contiguous_ref(tensor->ref.dtype, rank, shape)};
}

kw_gpu_tensor kw_gpu_expand(const kw_gpu_tensor *tensor, uint32_t rank, const int64_t *shape) {
  kw_gpu_tensor wide = {.at = tensor->at, .ref = contiguous_ref(tensor->ref.dtype, rank, shape)};
  uint32_t missing = rank - tensor->ref.rank;
  for (uint32_t d = 0; d < rank; ++d) {
    bool repeats = d < missing || tensor->ref.shape[d - missing] != shape[d];
    wide.ref.strides[d] = repeats ? 0 : tensor->ref.strides[d - missing];
  }
  return wide;
}

kw_gpu_tensor kw_gpu_strided(const kw_gpu_tensor *tensor, uint32_t rank, const int64_t *shape, const int64_t *strides) {
  kw_gpu_tensor result = kw_gpu_reshape(tensor, rank, shape);
  for (uint32_t d = 0; d < rank; ++d) result.ref.strides[d] = shape[d] == 1 ? 0 : strides[d];
  return result;
}

kw_gpu_tensor kw_gpu_part(const kw_gpu_tensor *tensor, uint32_t dim, int64_t begin, int64_t count) {
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, tensor->ref.shape, sizeof shape);
  shape[dim] = count;
  kw_gpu_tensor part = kw_gpu_strided(tensor, tensor->ref.rank, shape, tensor->ref.strides);
  part.at.offset += (uint64_t)(begin * tensor->ref.strides[dim]) * kw_gpu_dtype_size(tensor->ref.dtype);
  return part;
}

kw_gpu_tensor kw_gpu_transpose(const kw_gpu_tensor *tensor) {
  kw_gpu_tensor turned = *tensor;
  uint32_t last = tensor->ref.rank - 1u;
  turned.ref.shape[last] = tensor->ref.shape[last - 1];
  turned.ref.shape[last - 1] = tensor->ref.shape[last];
  turned.ref.strides[last] = tensor->ref.strides[last - 1];
  turned.ref.strides[last - 1] = tensor->ref.strides[last];
  return turned;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

kw_gpu_step *kw_gpu_step_add(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype) {
  if (plan->step_count == plan->step_capacity) {
    uint32_t capacity = plan->step_capacity ? 2 * plan->step_capacity : 4;
    kw_gpu_step *steps = plan->status == KW_OK ? realloc(plan->steps, capacity * sizeof *steps) : NULL;
    if (!steps) {
      run_out_of_memory(plan);
      memset(&plan->discarded, 0, sizeof plan->discarded);
      return &plan->discarded;
    }
    plan->steps = steps;
    plan->step_capacity = capacity;
  }
  kw_gpu_step *step = &plan->steps[plan->step_count++];
  memset(step, 0, sizeof *step);
  step->kernel = kernel;
  step->opcode = -1;
  step->dtype = dtype;
  return step;
}

static void add_location(kw_gpu_step *step, kw_gpu_location location) {
  if (step->operand_count < KW_GPU_OPERAND_LIMIT) step->operands[step->operand_count++] = location;
}

void kw_gpu_step_operand(kw_gpu_step *step, const kw_gpu_tensor *tensor) {
  add_location(step, tensor ? tensor->at : (kw_gpu_location){.from = KW_GPU_NOTHING});
}

void kw_gpu_step_errors(kw_gpu_step *step) {
  add_location(step, (kw_gpu_location){.from = KW_GPU_ERROR});
}

void kw_gpu_step_rng(kw_gpu_step *step) {
  add_location(step, (kw_gpu_location){.from = KW_GPU_RNG});
}

void kw_gpu_step_block(kw_gpu_step *step, const void *block, size_t size) {
  memcpy(step->block, block, size);
  step->block_size = (uint32_t)size;
}

static void add_value(kw_gpu_step *step, int from, const void *bits, uint32_t size) {
  if (step->value_count == KW_GPU_VALUE_LIMIT) return;
  step->values[step->value_count].from = from;
  step->values[step->value_count].size = size;
  if (bits) memcpy(step->values[step->value_count].bits, bits, size);
  ++step->value_count;
}

void kw_gpu_step_error_code(kw_gpu_step *step) {
  add_value(step, KW_GPU_ERROR_CODE, NULL, 4);
}

void kw_gpu_step_rng_values(kw_gpu_step *step) {
  add_value(step, KW_GPU_RNG_SEED, NULL, 8);
  add_value(step, KW_GPU_RNG_OFFSET, NULL, 8);
  add_value(step, KW_GPU_RNG_FLAGS, NULL, 4);
}

void kw_gpu_step_opcode(kw_gpu_step *step, int32_t opcode) {
  step->opcode = opcode;
  kw_gpu_step_int(step, opcode);
}

void kw_gpu_step_int(kw_gpu_step *step, int32_t value) {
  add_value(step, KW_GPU_CONSTANT, &value, sizeof value);
}

void kw_gpu_step_long(kw_gpu_step *step, int64_t value) {
  add_value(step, KW_GPU_CONSTANT, &value, sizeof value);
}

void kw_gpu_step_float(kw_gpu_step *step, float value) {
  add_value(step, KW_GPU_CONSTANT, &value, sizeof value);
}

void kw_gpu_step_number(kw_gpu_step *step, double value) {
  uint8_t bits[8];
  uint32_t size;
  const kw_value scalar = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64, .u.f = value};
  kw_gpu_scalar_operand(&scalar, step->dtype, bits, &size);
  add_value(step, KW_GPU_CONSTANT, bits, size);
}

void kw_gpu_step_scalar(kw_gpu_plan *plan, kw_gpu_step *step, const kw_value *value, int64_t otherwise) {
  uint8_t bits[8];
  uint32_t size = 0;
  const kw_value constant = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = otherwise};
  if (!value || value->tag != KW_TAG_SCALAR) value = &constant;
  if (kw_gpu_scalar_operand(value, step->dtype, bits, &size) != KW_OK) kw_gpu_refuse(plan, kw_gpu_complex_scalar);
  add_value(step, KW_GPU_CONSTANT, bits, size);
}

void kw_gpu_step_grid(kw_gpu_step *step, uint32_t local_x, uint32_t local_y, int64_t groups_x, int64_t groups_y) {
  step->local[0] = local_x;
  step->local[1] = local_y;
  step->groups[0] = (uint64_t)groups_x;
  step->groups[1] = (uint64_t)groups_y;
}

void kw_gpu_step_items(kw_gpu_step *step, int64_t count) {
  kw_gpu_step_grid(step, KW_LOCAL_ELEMENTWISE, 1, (count + KW_LOCAL_ELEMENTWISE - 1) / KW_LOCAL_ELEMENTWISE, 1);
}

void kw_gpu_step_parts(kw_gpu_step *step, int64_t count, int64_t each) {
  kw_gpu_step_grid(step, 1, 1, (count + each - 1) / each, 1);
}

void kw_gpu_step_stretches(const kw_gpu_plan *plan, kw_gpu_step *step, int64_t count) {
  if (device_of(plan)->vector_bytes > 0) {
    kw_gpu_step_parts(step, count, KW_STRETCH);
  } else {
    kw_gpu_step_items(step, count);
  }
}

bool kw_gpu_row_fits(const kw_gpu_plan *plan, int64_t count) {
  return count <= (device_of(plan)->vector_bytes > 0 ? 1 << 18 : 1 << 13);
}

int64_t kw_gpu_row_lanes(const kw_gpu_plan *plan, int64_t count) {
  int64_t lanes = 1;
  if (device_of(plan)->vector_bytes > 0) return 1;
  while (lanes < count && lanes < KW_LOCAL_REDUCTION) lanes *= 2;
  return lanes;
}

void kw_gpu_step_rows(const kw_gpu_plan *plan, kw_gpu_step *step, int64_t rows, int64_t lanes) {
  const int64_t items = device_of(plan)->vector_bytes > 0 ? KW_LOCAL_ROWS : KW_LOCAL_REDUCTION, each = items / lanes;
  kw_gpu_step_grid(step, (uint32_t)items, 1, (rows + each - 1) / each, 1);
}

void kw_gpu_step_groups(kw_gpu_step *step, int64_t groups) {
  kw_gpu_step_grid(step, KW_LOCAL_REDUCTION, 1, groups, 1);
}

typedef void (*lower_fn)(const kw_tensor_ref *const *operands, uint32_t count, kw_elementwise *out_block);

static kw_gpu_step *add_elements(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                                 const kw_gpu_tensor *out, const kw_gpu_tensor *const *in, uint32_t in_count,
                                 lower_fn lower, bool stretched) {
  const kw_tensor_ref *refs[KW_GPU_OPERANDS] = {&out->ref};
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, dtype);
  kw_elementwise block;
  kw_gpu_step_operand(step, out);
  for (uint32_t k = 0; k < in_count; ++k) {
    bool present = in[k] && kw_gpu_present(in[k]);
    refs[k + 1] = present ? &in[k]->ref : NULL;
    kw_gpu_step_operand(step, in[k]);
  }
  lower(refs, in_count + 1, &block);
  block.stream = kw_gpu_streams(out);
  kw_gpu_step_block(step, &block, sizeof block);
  if (stretched) {
    kw_gpu_step_stretches(plan, step, block.numel);
  } else {
    kw_gpu_step_items(step, kw_gpu_items(device_of(plan), kernel->module, dtype, block.numel));
  }
  return step;
}

kw_gpu_step *kw_gpu_step_elementwise(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                                     const kw_gpu_tensor *out, const kw_gpu_tensor *const *in, uint32_t in_count) {
  return add_elements(plan, kernel, dtype, out, in, in_count, kw_gpu_lower_elementwise, false);
}

kw_gpu_step *kw_gpu_step_ordered(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                                 const kw_gpu_tensor *out, const kw_gpu_tensor *const *in, uint32_t in_count) {
  return add_elements(plan, kernel, dtype, out, in, in_count, kw_gpu_lower_ordered, false);
}

kw_gpu_step *kw_gpu_step_stretched(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype,
                                   const kw_gpu_tensor *out, const kw_gpu_tensor *const *in, uint32_t in_count) {
  return add_elements(plan, kernel, dtype, out, in, in_count, kw_gpu_lower_elementwise, true);
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

void kw_gpu_plan_lower(kw_gpu_plan *plan, const kw_call *call) {
  const kw_gpu_op *op = call->user;
  memset(plan, 0, sizeof *plan);
  plan->call = call;
  if (kw_call_is_known(call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}})) {
    op->lower(plan, op);
  } else {
    kw_gpu_refuse(plan, "does not know what a later version sends");
  }
  plan->call = NULL;
}

/* Nothing to do: a step on a tensor without elements. Runtimes refuse to enqueue that. */
static bool is_empty(const kw_gpu_step *step) {
  return step->kind == KW_GPU_LAUNCH ? step->groups[0] == 0 || step->groups[1] == 0 : step->bytes == 0;
}

kw_status kw_gpu_plan_compile(kw_gpu_plan *plan, kw_gpu_device *device) {
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    kw_gpu_step *step = &plan->steps[i];
    if (step->kind != KW_GPU_LAUNCH || is_empty(step)) continue;
    kw_status status = kw_gpu_kernel_find(device, step->kernel, step->dtype, step->opcode, &step->compiled);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

void kw_gpu_plan_clear(kw_gpu_plan *plan) {
  free(plan->steps);
  plan->steps = NULL;
  plan->step_count = plan->step_capacity = 0;
}

/* A tensor of the call that a stand-in can be: some buffer has to be passed. */
static const kw_tensor_ref *any_tensor(const kw_call *call) {
  for (uint32_t i = 0; i < call->out_count; ++i)
    if (call->outs[i]) return call->outs[i];
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    const kw_value *value = &call->args[i];
    if (value->tag == KW_TAG_TENSOR && value->u.tensor) return value->u.tensor;
    if (value->tag == KW_TAG_TENSOR_LIST && value->count > 0 && value->u.tensors[0]) return value->u.tensors[0];
  }
  return NULL;
}

/* Kernels that ops share take an error word, and numbers, from calls that have neither. */
static const kw_call_extra *extra_of(const kw_call *call) {
  static const kw_call_extra none = {.struct_size = sizeof none};
  return call->extra ? call->extra : &none;
}

/* Buffer and byte offset of an operand. */
static kw_mem resolve(const kw_gpu_location *location, const kw_call *call, uint64_t *out_offset) {
  const kw_call_extra *extra = extra_of(call);
  const kw_tensor_ref *tensor = NULL;
  switch (location->from) {
    case KW_GPU_ARGUMENT: {
      const kw_value *value = &call->args[location->index];
      tensor = value->tag == KW_TAG_TENSOR_LIST ? value->u.tensors[location->entry] : value->u.tensor;
      break;
    }
    case KW_GPU_RESULT:
      tensor = call->outs[location->index];
      break;
    case KW_GPU_WORKSPACE:
      *out_offset = call->workspace_offset + location->offset;
      return call->workspace;
    case KW_GPU_ERROR:
      if (!extra->error_mem) break;
      *out_offset = extra->error_offset;
      return extra->error_mem;
    case KW_GPU_RNG:
      if (!extra->rng.state) break;
      *out_offset = extra->rng.state_offset;
      return extra->rng.state;
    case KW_GPU_NOTHING:
      break;
  }
  if (!tensor) tensor = any_tensor(call);
  *out_offset = tensor->offset + location->offset;
  return tensor->mem;
}

static const void *value_bits(const kw_gpu_step *step, uint32_t index, const kw_call *call, int32_t *rng_flags) {
  const kw_call_extra *extra = extra_of(call);
  switch (step->values[index].from) {
    case KW_GPU_ERROR_CODE:
      return &extra->error_code;
    case KW_GPU_RNG_SEED:
      return &extra->rng.seed;
    case KW_GPU_RNG_OFFSET:
      return &extra->rng.offset;
    case KW_GPU_RNG_FLAGS:
      *rng_flags = (extra->rng.state ? 1 : 0) | (extra->rng.algorithm == KW_GENERATOR_AES128_CTR ? 2 : 0);
      return rng_flags;
    default:
      return step->values[index].bits;
  }
}

static kw_status step_launch(const kw_gpu_step *step, const kw_call *call) {
  kw_gpu_device *device = call->device;
  kw_gpu_arg args[KW_GPU_OPERAND_LIMIT + 1 + KW_GPU_VALUE_LIMIT];
  uint32_t count = 0;
  int32_t rng_flags;
  union {
    kw_i64 offset[KW_GPU_OPERAND_LIMIT];
    unsigned char bytes[KW_GPU_BLOCK_LIMIT];
  } block;
  memcpy(block.bytes, step->block, step->block_size);
  for (uint32_t k = 0; k < step->operand_count; ++k) {
    uint64_t offset;
    args[count++] = (kw_gpu_arg){.mem = resolve(&step->operands[k], call, &offset)};
    block.offset[k] = (kw_i64)offset;
  }
  args[count++] = (kw_gpu_arg){.data = &block, .size = step->block_size};
  for (uint32_t v = 0; v < step->value_count; ++v)
    args[count++] = (kw_gpu_arg){.data = value_bits(step, v, call, &rng_flags), .size = step->values[v].size};
  const kw_gpu_launch launch = {.kernel = step->compiled,
                                .args = args,
                                .arg_count = count,
                                .local = {step->local[0], step->local[1]},
                                .groups = {step->groups[0], step->groups[1]},
                                .call_id = call->call_id};
  kw_gpu_recorder *recorder = ((kw_gpu_stream *)call->stream)->recorder;
  return recorder ? kw_gpu_recorder_launch(recorder, step, &launch)
                  : device->driver->launch(device, call->stream, &launch);
}

/* What the runtime moves itself. */
static kw_status step_move(const kw_gpu_step *step, const kw_call *call) {
  kw_gpu_command command = {
      .kind = step->kind == KW_GPU_COPY ? KW_GPU_COMMAND_COPY : KW_GPU_COMMAND_FILL,
      .call_id = call->call_id,
      .copy = {.struct_size = sizeof command.copy, .kind = KW_COPY_DEVICE_TO_DEVICE, .size = step->bytes},
      .pattern_size = step->pattern_size};
  kw_copy_info *copy = &command.copy;
  memcpy(command.pattern, step->pattern, sizeof command.pattern);
  copy->dst_mem = resolve(&step->operands[0], call, &copy->dst_offset);
  if (step->kind == KW_GPU_COPY) copy->src_mem = resolve(&step->operands[1], call, &copy->src_offset);
  return kw_gpu_command_enqueue(&command, call->device, call->stream);
}

static kw_status step_run(const kw_gpu_step *step, const kw_call *call) {
  return step->kind == KW_GPU_LAUNCH ? step_launch(step, call) : step_move(step, call);
}

kw_status kw_gpu_plan_run(const kw_gpu_plan *plan, const kw_call *call) {
  kw_gpu_recorder *recorder = ((kw_gpu_stream *)call->stream)->recorder;
  if (recorder) kw_gpu_recorder_call(recorder);
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    kw_status status = is_empty(&plan->steps[i]) ? KW_OK : step_run(&plan->steps[i], call);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

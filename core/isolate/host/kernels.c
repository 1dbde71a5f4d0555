/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels, ops and activity records: calls read from messages and given to what the plugin has registered.
 */
#include "isolate/host/host.h"
#include "isolate/wire/call_codec.h"

static kw_status ask_prepare(kw_question *q, const kw_kernel_desc *kernel, const kw_call *call) {
  void *prepared = NULL;
  const kw_status status = kernel->prepare(call, &prepared);
  kw_put_u64(&q->out, (uintptr_t)prepared);
  return status;
}

static kw_status ask_workspace(kw_question *q, const kw_kernel_desc *kernel, const kw_call *call) {
  uint64_t size = 0;
  const kw_status status = kernel->workspace_size(call, &size);
  kw_put_u64(&q->out, size);
  return status;
}

static kw_status ask_packed_size(kw_question *q, const kw_kernel_desc *kernel, const kw_call *call) {
  uint64_t size = 0, format = 0;
  const kw_status status = kernel->packed_size(call, kw_take_u32(&q->in), &size, &format);
  kw_put_u64(&q->out, size);
  kw_put_u64(&q->out, format);
  return status;
}

static kw_status ask_pack(kw_question *q, const kw_kernel_desc *kernel, const kw_call *call) {
  const uint32_t arg = kw_take_u32(&q->in);
  const kw_mem mem = (kw_mem)(uintptr_t)kw_take_u64(&q->in);
  const uint64_t offset = kw_take_u64(&q->in);
  return kernel->pack(call, arg, mem, offset);
}

static kw_status release(kw_question *q, const kw_kernel_desc *kernel) {
  void *prepared = (void *)(uintptr_t)kw_take_u64(&q->in);
  return kernel->release != NULL ? kernel->release(kernel->user, prepared) : KW_OK;
}

kw_status kw_host_kernel(kw_question *q) {
  const kw_kernel_desc *kernel = kw_host_find_kernel(kw_take_u64(&q->in));
  kw_call call;
  if (kernel == NULL) return KW_ERR_INVALID_ARGUMENT;
  if (q->code == KW_CODE_RELEASE) return release(q, kernel);
  kw_take_call(&q->in, q->arena, &call);
  if (q->in.broken) return KW_ERR_INVALID_ARGUMENT;
  call.op = kernel->op;
  call.user = kernel->user;
  switch (q->code) {
    case KW_CODE_CAN_IMPLEMENT:
      return kernel->can_implement(&call);
    case KW_CODE_WORKSPACE_SIZE:
      return ask_workspace(q, kernel, &call);
    case KW_CODE_PREPARE:
      return ask_prepare(q, kernel, &call);
    case KW_CODE_PACKED_SIZE:
      return ask_packed_size(q, kernel, &call);
    case KW_CODE_PACK:
      return ask_pack(q, kernel, &call);
    default:
      return kernel->launch(&call);
  }
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static kw_status infer(kw_question *q, const kw_op_desc *op) {
  uint32_t arg_count;
  const kw_value *args = kw_take_values(&q->in, q->arena, &arg_count);
  const uint32_t out_count = kw_take_u32(&q->in);
  kw_tensor_ref **outs = out_count <= KW_WIRE_LANE_SIZE ? kw_arena_take(q->arena, out_count * sizeof *outs) : NULL;
  if (q->in.broken || outs == NULL) return KW_ERR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < out_count; i++) {
    outs[i] = kw_arena_take(q->arena, sizeof *outs[i]);
    if (outs[i] == NULL) return KW_ERR_OUT_OF_MEMORY;
    outs[i]->struct_size = sizeof *outs[i];
  }
  const kw_status status = op->infer(op->user, args, arg_count, outs, out_count);
  for (uint32_t i = 0; i < out_count; i++) {
    const uint32_t rank = outs[i]->rank <= KW_MAX_RANK ? outs[i]->rank : KW_MAX_RANK;
    kw_put_u64(&q->out, outs[i]->dtype);
    kw_put_u64(&q->out, outs[i]->rank);
    kw_put_raw(&q->out, outs[i]->shape, rank * sizeof *outs[i]->shape);
  }
  return status;
}

/* Descriptors of the arena, whose `mem` is where in the block they lie, plus 1. */
static void place(const kw_tensor_ref *tensor, unsigned char *bytes) {
  kw_tensor_ref *mine = (kw_tensor_ref *)(uintptr_t)tensor;
  if (mine != NULL) mine->mem = bytes + (uintptr_t)mine->mem - 1;
}

static kw_status reference(kw_question *q, const kw_op_desc *op) {
  kw_call call;
  const uint64_t number = kw_take_u64(&q->in), offset = kw_take_u64(&q->in);
  kw_take_call(&q->in, q->arena, &call);
  unsigned char *bytes = kw_host_block(number, offset, 1);
  if (q->in.broken || bytes == NULL) return KW_ERR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < call.arg_count; i++) {
    const kw_value *value = &call.args[i];
    if (value->tag == KW_TAG_TENSOR) place(value->u.tensor, bytes);
    for (uint32_t t = 0; value->tag == KW_TAG_TENSOR_LIST && t < value->count; t++) place(value->u.tensors[t], bytes);
  }
  for (uint32_t i = 0; i < call.out_count; i++) place(call.outs[i], bytes);
  call.user = op->user;
  return op->reference(&call);
}

kw_status kw_host_op(kw_question *q) {
  const kw_op_desc *op = kw_host_find_op(kw_take_u64(&q->in));
  if (op == NULL) return KW_ERR_INVALID_ARGUMENT;
  return q->code == KW_CODE_INFER ? infer(q, op) : reference(q, op);
}

/* ---- Activity ---------------------------------------------------------------------------------------------------- */

kw_status kw_host_drain(kw_question *q) {
  void *device = (void *)(uintptr_t)kw_take_u64(&q->in);
  const uint32_t capacity = kw_take_u32(&q->in);
  kw_activity *records = capacity <= KW_DRAIN_LIMIT ? kw_arena_take(q->arena, capacity * sizeof *records) : NULL;
  uint32_t count = 0;
  uint64_t dropped = 0;
  if (records == NULL) return KW_ERR_OUT_OF_MEMORY;
  const kw_status status =
      kw_hosted_plugin.answer.activity.drain(device, records, sizeof *records, capacity, &count, &dropped);
  kw_put_u64(&q->out, dropped);
  kw_put_u64(&q->out, count);
  kw_put_raw(&q->out, records, (count <= capacity ? count : capacity) * sizeof *records);
  return status;
}

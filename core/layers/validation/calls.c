/* SPDX-License-Identifier: Apache-2.0
 *
 * Values by their tags, tensors and streams by their device; then the uses of memory, stream by stream.
 */
#include "layers/validation/calls.h"

#include "call/plan.h"
#include "call/value.h"
#include "layers/validation/objects.h"
#include "layers/validation/order.h"
#include "op/op.h"
#include "tensor/tensor.h"

#include <stdio.h>

#define MOST_USES 96u /* of one call that are looked at */

static kw_api below;

/* The tensors of one call. */
typedef struct tensors {
  const kw_device *device; /* of the first */
  kw_use uses[MOST_USES];
  uint32_t count;
} tensors;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool take_tensor(tensors *all, const char *argument, uint32_t index, const kw_tensor *tensor, bool writes) {
  char name[48];
  snprintf(name, sizeof name, "%s[%u]", argument, index);
  if (!kw_object_use(kw_checked_now(), name, KW_KIND_TENSOR, tensor)) return false;
  if (all->device == NULL) all->device = tensor->device;
  if (tensor->device != all->device) return kw_checked_suspect("tensor-of-another-device");
  if (all->count < MOST_USES) all->uses[all->count++] = (kw_use){tensor, writes};
  return true;
}

static bool take_list(tensors *all, const kw_value *value, uint32_t index, bool writes) {
  if (value->u.tensors == NULL && value->count > 0) return kw_checked_suspect("value-list-null");
  for (uint32_t k = 0; k < value->count; k++) {
    const kw_tensor *tensor = kw_value_entry(value, k);
    if (tensor != NULL && !take_tensor(all, "args", index, tensor, writes)) return false;
  }
  return true;
}

static bool take_value(tensors *all, const kw_op *op, const kw_value *value, uint32_t index) {
  const bool writes = index < op->schema.arg_count && op->schema.args[index].mutated;
  switch (value->tag) {
    case KW_TAG_TENSOR:
      if (value->u.tensor == NULL) return kw_checked_suspect("value-tensor-null");
      return take_tensor(all, "args", index, kw_value_as_tensor(value), writes);
    case KW_TAG_TENSOR_LIST:
      return take_list(all, value, index, writes);
    case KW_TAG_INT_LIST:
      return value->u.ints != NULL || value->count == 0 || kw_checked_suspect("value-list-null");
    case KW_TAG_STRING:
      return value->u.s != NULL || kw_checked_suspect("value-text-null");
    case KW_TAG_SCALAR:
      return value->kind <= KW_SCALAR_C128 || kw_checked_suspect("value-kind-unknown");
    case KW_TAG_GENERATOR:
      return value->u.generator == NULL ||
             kw_object_use(kw_checked_now(), "args: generator", KW_KIND_GENERATOR, value->u.generator);
    case KW_TAG_META:
    case KW_TAG_META_LIST:
      return kw_checked_suspect("value-without-memory");
    default:
      return value->tag <= KW_TAG_GENERATOR || kw_checked_suspect("value-tag-unknown");
  }
}

/* What is given of a call: false, and a report, where that breaks a rule. */
static bool take_call(tensors *all, const kw_op *op, const kw_stream *stream, const kw_value *args, uint32_t arg_count,
                      kw_tensor **outs, uint32_t out_count) {
  *all = (tensors){.device = NULL};
  if (args == NULL && arg_count > 0) return kw_checked_suspect("values-null");
  if (outs == NULL && out_count > 0) return kw_checked_suspect("results-null");
  if (arg_count > op->schema.arg_count) return kw_checked_suspect("values-too-many");
  for (uint32_t i = 0; i < arg_count; i++) {
    if (!take_value(all, op, &args[i], i)) return false;
  }
  for (uint32_t i = 0; i < out_count; i++) {
    if (outs[i] != NULL && !take_tensor(all, KW_RESULTS_ARGUMENT, i, outs[i], true)) return false;
  }
  if (stream != NULL && all->device != NULL && kw_stream_device(stream) != all->device) {
    return kw_checked_suspect("stream-of-another-device");
  }
  return true;
}

/* ---- Calls of ops ------------------------------------------------------------------------------------------------ */

/* Results that the call made: bit i for outs[i]. */
static uint64_t absent_of(kw_tensor **outs, uint32_t out_count) {
  uint64_t absent = 0;
  for (uint32_t i = 0; outs != NULL && i < out_count && i < 64; i++) absent |= (uint64_t)(outs[i] == NULL) << i;
  return absent;
}

static void note_made(tensors *all, kw_tensor **outs, uint32_t out_count, uint64_t absent) {
  for (uint32_t i = 0; i < out_count && i < 64; i++) {
    if ((absent >> i & 1) == 0 || outs[i] == NULL) continue;
    kw_object_begin(KW_KIND_TENSOR, outs[i], outs[i]->device, false);
    kw_order_forget(outs[i]);
    if (all->device == NULL) all->device = outs[i]->device;
    if (all->count < MOST_USES) all->uses[all->count++] = (kw_use){outs[i], true};
  }
}

static bool has_mask(const kw_op *op, const kw_value *args, uint32_t arg_count) {
  for (uint32_t i = 0; i < arg_count; i++) {
    if (args[i].tag != KW_TAG_TENSOR_LIST || !op->schema.args[i].list_optional) continue;
    for (uint32_t k = 0; k < args[i].count; k++) {
      const kw_tensor *tensor = kw_value_entry(&args[i], k);
      if (tensor != NULL && (tensor->ref.dtype == KW_BOOL || tensor->ref.dtype == KW_U8)) return true;
    }
  }
  return false;
}

/* Calls whose results have the size that the data say wait for the stream: after their work, and for masks among
 * indices before it. */
static void note_work(const tensors *all, const kw_op *op, const kw_stream *stream, const kw_value *args,
                      uint32_t arg_count, uint32_t out_count) {
  const kw_device *device = stream != NULL ? kw_stream_device(stream) : all->device;
  if (device == NULL) return;
  if (has_mask(op, args, arg_count)) kw_order_waited(device, stream);
  kw_order_work(device, stream, all->uses, all->count);
  if (op->counted && out_count + 1 == op->schema.result_count) kw_order_waited(device, stream);
}

static kw_status op_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count, kw_tensor **outs,
                         uint32_t out_count) {
  tensors all;
  if (!take_call(&all, op, stream, args, arg_count, outs, out_count)) return KW_ERR_INVALID_ARGUMENT;
  const uint64_t absent = absent_of(outs, out_count);
  const kw_status status = below.op_call(op, stream, args, arg_count, outs, out_count);
  if (status != KW_OK) return status;
  note_made(&all, outs, out_count, absent);
  note_work(&all, op, stream, args, arg_count, out_count);
  return KW_OK;
}

static kw_status plan_make(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                           kw_tensor **outs, uint32_t out_count, const char *kernel, kw_plan **out_plan) {
  tensors all;
  if (!take_call(&all, op, stream, args, arg_count, outs, out_count)) return KW_ERR_INVALID_ARGUMENT;
  return below.plan_make(op, stream, args, arg_count, outs, out_count, kernel, out_plan);
}

static kw_status plan_run(const kw_plan *plan, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                          kw_tensor **outs, uint32_t out_count) {
  tensors all;
  if (!take_call(&all, plan->op, stream, args, arg_count, outs, out_count)) return KW_ERR_INVALID_ARGUMENT;
  const uint64_t absent = absent_of(outs, out_count);
  const kw_status status = below.plan_run(plan, stream, args, arg_count, outs, out_count);
  if (status != KW_OK) return status;
  note_made(&all, outs, out_count, absent);
  note_work(&all, plan->op, stream, args, arg_count, out_count);
  return KW_OK;
}

/* ---- New memory -------------------------------------------------------------------------------------------------- */

static kw_status fresh(kw_status status, kw_tensor **out_tensor) {
  if (status == KW_OK) kw_order_forget(*out_tensor);
  return status;
}

static kw_status tensor_create(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                               kw_tensor **out_tensor) {
  return fresh(below.tensor_create(device, dtype, rank, shape, out_tensor), out_tensor);
}

static kw_status tensor_create_on(kw_stream *stream, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                  kw_tensor **out_tensor) {
  return fresh(below.tensor_create_on(stream, dtype, rank, shape, out_tensor), out_tensor);
}

static kw_status tensor_create_in(kw_device *device, const kw_memory_options *memory, kw_dtype dtype, uint32_t rank,
                                  const int64_t *shape, kw_tensor **out_tensor) {
  return fresh(below.tensor_create_in(device, memory, dtype, rank, shape, out_tensor), out_tensor);
}

static kw_status tensor_import(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                               kw_tensor **out_tensor) {
  return fresh(below.tensor_import(device, memory, deleter, user, out_tensor), out_tensor);
}

static kw_status tensor_from_file(kw_device *device, const char *path, kw_tensor **out_tensor) {
  return fresh(below.tensor_from_file(device, path, out_tensor), out_tensor);
}

/* ---- Transfers --------------------------------------------------------------------------------------------------- */

/* A use on the default stream, for which the call has waited. */
static void note_waited_use(const kw_tensor *tensor, bool writes) {
  const kw_use use = {tensor, writes};
  kw_order_work(tensor->device, NULL, &use, 1);
  kw_order_waited(tensor->device, NULL);
}

static void suspect_host(const kw_tensor *tensor, const void *host) {
  if (host == NULL && tensor->ref.numel > 0) kw_checked_suspect("host-null");
}

static kw_status tensor_write(kw_tensor *tensor, const void *host) {
  suspect_host(tensor, host);
  const kw_status status = below.tensor_write(tensor, host);
  if (status == KW_OK) note_waited_use(tensor, true);
  return status;
}

static kw_status tensor_read(const kw_tensor *tensor, void *host) {
  suspect_host(tensor, host);
  const kw_status status = below.tensor_read(tensor, host);
  if (status == KW_OK) note_waited_use(tensor, false);
  return status;
}

static kw_status tensor_format(const kw_tensor *tensor, char *text, size_t size) {
  const kw_status status = below.tensor_format(tensor, text, size);
  if (status == KW_OK) note_waited_use(tensor, false);
  return status;
}

static kw_status tensor_to(const kw_tensor *tensor, kw_device *device, kw_tensor **out_tensor) {
  const kw_status status = below.tensor_to(tensor, device, out_tensor);
  if (status != KW_OK) return status;
  note_waited_use(tensor, false);
  kw_order_forget(*out_tensor);
  return KW_OK;
}

static void suspect_stream(const kw_tensor *tensor, const kw_stream *stream) {
  if (stream != NULL && kw_stream_device(stream) != tensor->device) kw_checked_suspect("stream-of-another-device");
}

static kw_status tensor_write_async(kw_tensor *tensor, const void *host, kw_stream *stream) {
  suspect_host(tensor, host);
  suspect_stream(tensor, stream);
  const kw_status status = below.tensor_write_async(tensor, host, stream);
  if (status == KW_OK) kw_order_copy(tensor->device, stream, (kw_use){tensor, true}, host);
  return status;
}

static kw_status tensor_read_async(const kw_tensor *tensor, void *host, kw_stream *stream) {
  suspect_host(tensor, host);
  suspect_stream(tensor, stream);
  const kw_status status = below.tensor_read_async(tensor, host, stream);
  if (status == KW_OK) kw_order_copy(tensor->device, stream, (kw_use){tensor, false}, host);
  return status;
}

static kw_status tensor_copy_async(kw_tensor *to, kw_stream *to_stream, const kw_tensor *from, kw_stream *from_stream) {
  suspect_stream(to, to_stream);
  suspect_stream(from, from_stream);
  const kw_status status = below.tensor_copy_async(to, to_stream, from, from_stream);
  if (status != KW_OK) return status;
  const kw_stream *reads = from_stream != NULL ? from_stream : kw_stream_default(from->device);
  const kw_stream *writes = to_stream != NULL ? to_stream : kw_stream_default(to->device);
  kw_order_work(from->device, reads, &(kw_use){from, false}, 1);
  kw_order_work(to->device, writes, &(kw_use){to, true}, 1);
  kw_order_meet(reads, writes);
  return KW_OK;
}

void kw_calls_wrap(kw_api *api) {
  below = *api;
  api->op_call = op_call;
  api->plan_make = plan_make;
  api->plan_run = plan_run;
  api->tensor_create = tensor_create;
  api->tensor_create_on = tensor_create_on;
  api->tensor_create_in = tensor_create_in;
  api->tensor_import = tensor_import;
  api->tensor_from_file = tensor_from_file;
  api->tensor_write = tensor_write;
  api->tensor_read = tensor_read;
  api->tensor_format = tensor_format;
  api->tensor_to = tensor_to;
  api->tensor_write_async = tensor_write_async;
  api->tensor_read_async = tensor_read_async;
  api->tensor_copy_async = tensor_copy_async;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The capture layer (KEYWAY_LAYERS=capture): what an application has devices do, with the data, in one file that
 * `keyway replay` runs again. docs/layers.md tells what is in it and what is not.
 *
 * A call is written once it went well, so the file's order is one in which everything happened: what a thread learned
 * from another one's call stands behind that. Memory that is first seen as an argument, with contents that no call
 * before has brought there, is read then. What is called while a graph is recorded is kept as such.
 */
#include "layers/capture.h"

#include "call/plan.h"
#include "device/generator.h"
#include "layers/capture_file.h"
#include "layers/capture_memory.h"
#include "layers/layer.h"

#include <stdlib.h>

static kw_layer *const self = &kw_capture_layer;

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static void put_tensor(kw_bytes *out, const kw_tensor *tensor) {
  kw_capture_view(out, kw_capture_buffer(tensor), tensor->ref.offset - tensor->buffer->offset, &tensor->ref);
}

static size_t byte_size(const kw_tensor *tensor) {
  return (size_t)tensor->ref.numel * kw_dtype_size(tensor->ref.dtype);
}

static bool lives(const kw_tensor *tensor) {
  return tensor != NULL && kw_tensor_lives(tensor);
}

static void put_write(const kw_tensor *tensor, const void *data) {
  kw_bytes record = {0};
  put_tensor(&record, tensor);
  kw_capture_file_put(KW_CAPTURE_WRITE, &record, data, byte_size(tensor));
}

static uint64_t new_number(void) {
  static atomic_ullong last;
  return atomic_fetch_add(&last, 1) + 1;
}

static uint64_t put_read(const kw_tensor *tensor) {
  kw_bytes record = {0};
  const uint64_t number = new_number();
  kw_capture_u64(&record, number);
  put_tensor(&record, tensor);
  kw_capture_file_put(KW_CAPTURE_READ, &record, NULL, 0);
  return number;
}

static void put_result(uint64_t number, const void *data, size_t size) {
  kw_bytes record = {0};
  kw_capture_u64(&record, number);
  kw_capture_file_put(KW_CAPTURE_RESULT, &record, data, size);
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

static kw_status created(kw_status status, kw_tensor *const *tensor) {
  if (status == KW_OK) kw_capture_new_buffer(*tensor, false);
  return status;
}

static kw_status tensor_create(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                               kw_tensor **out_tensor) {
  return created(self->below.tensor_create(device, dtype, rank, shape, out_tensor), out_tensor);
}

static kw_status tensor_create_on(kw_stream *stream, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                  kw_tensor **out_tensor) {
  return created(self->below.tensor_create_on(stream, dtype, rank, shape, out_tensor), out_tensor);
}

static kw_status tensor_create_in(kw_device *device, const kw_memory_options *memory, kw_dtype dtype, uint32_t rank,
                                  const int64_t *shape, kw_tensor **out_tensor) {
  return created(self->below.tensor_create_in(device, memory, dtype, rank, shape, out_tensor), out_tensor);
}

/* Memory that somebody else has filled, or may fill at any time: read when it is used. */
static kw_status brought(kw_status status, kw_tensor *const *tensor) {
  if (status == KW_OK && (*tensor)->buffer->imported) kw_capture_forget_buffer(*tensor);
  return status;
}

static kw_status tensor_import(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                               kw_tensor **out_tensor) {
  return brought(self->below.tensor_import(device, memory, deleter, user, out_tensor), out_tensor);
}

static kw_status tensor_from_file(kw_device *device, const char *path, kw_tensor **out_tensor) {
  return brought(self->below.tensor_from_file(device, path, out_tensor), out_tensor);
}

static kw_status tensor_from_dlpack(kw_device *device, struct DLManagedTensorVersioned *managed,
                                    kw_tensor **out_tensor) {
  return brought(self->below.tensor_from_dlpack(device, managed, out_tensor), out_tensor);
}

static kw_status tensor_from_dlpack_unversioned(kw_device *device, struct DLManagedTensor *managed,
                                                kw_tensor **out_tensor) {
  return brought(self->below.tensor_from_dlpack_unversioned(device, managed, out_tensor), out_tensor);
}

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static kw_status tensor_write(kw_tensor *tensor, const void *host) {
  if (lives(tensor)) kw_capture_know(tensor, true);
  kw_status status = self->below.tensor_write(tensor, host);
  if (status == KW_OK) put_write(tensor, host);
  return status;
}

static kw_status tensor_write_async(kw_tensor *tensor, const void *host, kw_stream *stream) {
  if (lives(tensor)) kw_capture_know(tensor, true);
  kw_status status = self->below.tensor_write_async(tensor, host, stream);
  if (status == KW_OK) put_write(tensor, host);
  return status;
}

static kw_status tensor_read(const kw_tensor *tensor, void *host) {
  if (lives(tensor)) kw_capture_know(tensor, false);
  kw_status status = self->below.tensor_read(tensor, host);
  if (status == KW_OK) put_result(put_read(tensor), host, byte_size(tensor));
  return status;
}

/* What a copy that was enqueued has brought, once it has. */
typedef struct pending_read {
  uint64_t number;
  const void *host;
  size_t size;
} pending_read;

static void KW_CALL has_read(void *user) {
  const pending_read *read = user;
  put_result(read->number, read->host, read->size);
  free(user);
}

static kw_status tensor_read_async(const kw_tensor *tensor, void *host, kw_stream *stream) {
  if (lives(tensor)) kw_capture_know(tensor, false);
  kw_status status = self->below.tensor_read_async(tensor, host, stream);
  pending_read *read = status == KW_OK ? malloc(sizeof *read) : NULL;
  if (read == NULL) return status;
  *read = (pending_read){put_read(tensor), host, byte_size(tensor)};
  kw_stream *on = stream != NULL ? stream : kw_stream_default(tensor->device);
  if (self->below.stream_call_host(on, has_read, read) != KW_OK) { /* what was read is not known then */
    self->below.error_clear();
    free(read);
  }
  return status;
}

static kw_status tensor_map(kw_tensor *tensor, kw_stream *stream, uint64_t flags, void **out_pointer) {
  if (lives(tensor)) kw_capture_know(tensor, false);
  kw_status status = self->below.tensor_map(tensor, stream, flags, out_pointer);
  if (status != KW_OK) return status;
  if ((flags & KW_MAP_READ) != 0) put_result(put_read(tensor), *out_pointer, byte_size(tensor));
  if ((flags & KW_MAP_WRITE) != 0) kw_capture_begin_writing(*out_pointer);
  return status;
}

static kw_status tensor_unmap(kw_tensor *tensor, void *pointer) {
  kw_bytes data = {0};
  const bool writes = lives(tensor) && kw_capture_end_writing(pointer);
  if (writes) kw_bytes_put(&data, pointer, byte_size(tensor));
  kw_status status = self->below.tensor_unmap(tensor, pointer);
  if (status == KW_OK && writes && !data.failed) put_write(tensor, data.data);
  kw_bytes_free(&data);
  return status;
}

static void put_copy(const kw_tensor *to, const kw_tensor *from) {
  kw_bytes record = {0};
  put_tensor(&record, to);
  put_tensor(&record, from);
  kw_capture_file_put(KW_CAPTURE_COPY, &record, NULL, 0);
}

static kw_status tensor_to(const kw_tensor *tensor, kw_device *device, kw_tensor **out_tensor) {
  if (lives(tensor)) kw_capture_know(tensor, false);
  kw_status status = created(self->below.tensor_to(tensor, device, out_tensor), out_tensor);
  if (status == KW_OK) put_copy(*out_tensor, tensor);
  return status;
}

static kw_status tensor_copy_async(kw_tensor *to, kw_stream *to_stream, const kw_tensor *from, kw_stream *from_stream) {
  if (lives(to)) kw_capture_know(to, true);
  if (lives(from)) kw_capture_know(from, false);
  kw_status status = self->below.tensor_copy_async(to, to_stream, from, from_stream);
  if (status == KW_OK) put_copy(to, from);
  return status;
}

static kw_status tensor_set_constant(kw_tensor *tensor, bool constant) {
  if (lives(tensor)) kw_capture_know(tensor, false);
  kw_status status = self->below.tensor_set_constant(tensor, constant);
  if (status == KW_OK) {
    kw_bytes record = {0};
    put_tensor(&record, tensor);
    kw_capture_u32(&record, constant);
    kw_capture_file_put(KW_CAPTURE_CONSTANT, &record, NULL, 0);
  }
  return status;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* A call on its way: what has to be written down before it runs. */
typedef struct call {
  const kw_op *op;
  const char *kernel;
  const kw_value *args;
  uint32_t arg_count;
  kw_tensor **outs;
  uint32_t out_count;
  uint32_t given; /* bit i: outs[i] was there before */
  uint64_t recording;
  kw_generator_state generator; /* before the call */
} call;

static const kw_tensor *tensor_of(const kw_tensor_ref *ref) {
  const kw_tensor *tensor = (const kw_tensor *)(const void *)ref;
  return lives(tensor) ? tensor : NULL;
}

/* The first tensor of a call, which tells its device. */
static const kw_tensor *first_tensor(const call *c) {
  const kw_tensor *found = NULL;
  for (uint32_t i = 0; i < c->arg_count && found == NULL; ++i) {
    const kw_value *value = &c->args[i];
    if (value->tag == KW_TAG_TENSOR) found = tensor_of(value->u.tensor);
    if (value->tag != KW_TAG_TENSOR_LIST || value->u.tensors == NULL) continue;
    for (uint32_t k = 0; k < value->count && found == NULL; ++k) found = tensor_of(value->u.tensors[k]);
  }
  for (uint32_t i = 0; i < c->out_count && found == NULL && c->outs != NULL; ++i)
    if (lives(c->outs[i])) found = c->outs[i];
  return found;
}

static void know_arguments(const call *c) {
  for (uint32_t i = 0; i < c->arg_count; ++i) {
    const kw_value *value = &c->args[i];
    if (value->tag == KW_TAG_TENSOR && tensor_of(value->u.tensor) != NULL)
      kw_capture_know(tensor_of(value->u.tensor), false);
    if (value->tag != KW_TAG_TENSOR_LIST || value->u.tensors == NULL) continue;
    for (uint32_t k = 0; k < value->count; ++k)
      if (tensor_of(value->u.tensors[k]) != NULL) kw_capture_know(tensor_of(value->u.tensors[k]), false);
  }
}

/* Before a call. A call that the library will refuse is prepared as far as it can be read. */
static void prepare(call *c, kw_stream *stream) {
  if (c->op == NULL || c->args == NULL) c->arg_count = 0;
  if (c->outs == NULL) c->out_count = 0;
  if (c->out_count > KW_MAX_RESULTS) c->out_count = 0;
  const kw_tensor *first = first_tensor(c);
  kw_device *device = stream != NULL ? kw_stream_device(stream) : first != NULL ? first->device : NULL;
  know_arguments(c);
  for (uint32_t i = 0; i < c->out_count; ++i) {
    if (c->outs[i] == NULL) continue;
    c->given |= UINT32_C(1) << i;
    if (lives(c->outs[i])) kw_capture_know(c->outs[i], true);
  }
  if (stream == NULL && device != NULL) stream = kw_stream_default(device);
  if (stream != NULL && kw_stream_recording(stream) != NULL) c->recording = stream->token;
  if (c->op == NULL || c->op->generator < 0 || device == NULL) return;
  const uint32_t at = (uint32_t)c->op->generator;
  kw_generator *generator = at < c->arg_count && c->args[at].tag == KW_TAG_GENERATOR ? c->args[at].u.generator : NULL;
  c->generator.struct_size = sizeof c->generator;
  if (generator == NULL) generator = kw_generator_default(device);
  if (self->below.generator_get_state(generator, &c->generator) != KW_OK) self->below.error_clear();
}

static void put_value(kw_bytes *out, const kw_value *value) {
  kw_capture_u32(out, value->tag);
  kw_capture_u32(out, value->kind);
  kw_capture_u32(out, value->count);
  switch (value->tag) {
    case KW_TAG_TENSOR:
      put_tensor(out, tensor_of(value->u.tensor));
      break;
    case KW_TAG_TENSOR_LIST:
      for (uint32_t i = 0; i < value->count; ++i) {
        const kw_tensor *tensor = tensor_of(value->u.tensors[i]);
        kw_capture_u32(out, tensor != NULL);
        if (tensor != NULL) put_tensor(out, tensor);
      }
      break;
    case KW_TAG_INT:
      kw_capture_u64(out, (uint64_t)value->u.i);
      break;
    case KW_TAG_INT_LIST:
      kw_bytes_put(out, value->u.ints, value->count * sizeof *value->u.ints);
      break;
    case KW_TAG_FLOAT:
      kw_bytes_put(out, &value->u.f, sizeof value->u.f);
      break;
    case KW_TAG_BOOL:
      kw_capture_u32(out, value->u.b);
      break;
    case KW_TAG_STRING:
      kw_capture_text(out, value->u.s);
      break;
    case KW_TAG_DTYPE:
      kw_capture_u32(out, value->u.dtype);
      break;
    case KW_TAG_SCALAR:
      kw_bytes_put(out, value->u.c, sizeof value->u.c);
      break;
    default:
      break;
  }
}

static void put_outs(kw_bytes *out, const call *c) {
  kw_capture_u32(out, c->out_count);
  for (uint32_t i = 0; i < c->out_count; ++i) {
    const bool alias = i < c->op->schema.result_count && c->op->schema.results[i].alias_of >= 0;
    const kw_tensor *tensor = alias ? NULL : c->outs[i];
    if (tensor == NULL) {
      kw_capture_u32(out, KW_CAPTURE_OUT_NONE);
    } else if (c->given >> i & 1) {
      kw_capture_u32(out, KW_CAPTURE_OUT_GIVEN);
      put_tensor(out, tensor);
    } else {
      kw_capture_new_buffer(tensor, true);
      kw_capture_u32(out, KW_CAPTURE_OUT_MADE);
      kw_capture_u64(out, tensor->buffer->size);
      put_tensor(out, tensor);
    }
  }
}

/* A call that went well. */
static void put_call(const call *c) {
  kw_bytes record = {0};
  kw_capture_text(&record, c->op->schema.name);
  kw_capture_text(&record, c->kernel);
  kw_capture_u64(&record, c->recording);
  kw_capture_u32(&record, self->below.math_mode_get());
  kw_capture_u32(&record, self->below.deterministic_get());
  kw_capture_u32(&record, self->below.autocast_get());
  kw_capture_u32(&record, c->op->generator >= 0);
  if (c->op->generator >= 0) {
    kw_capture_u32(&record, c->generator.algorithm);
    kw_capture_u64(&record, c->generator.seed);
    kw_capture_u64(&record, c->generator.offset);
  }
  kw_capture_u32(&record, c->arg_count);
  for (uint32_t i = 0; i < c->arg_count; ++i) put_value(&record, &c->args[i]);
  put_outs(&record, c);
  kw_capture_file_put(KW_CAPTURE_CALL, &record, NULL, 0);
}

static kw_status op_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count, kw_tensor **outs,
                         uint32_t out_count) {
  call c = {.op = op, .kernel = "", .args = args, .arg_count = arg_count, .outs = outs, .out_count = out_count};
  prepare(&c, stream);
  kw_status status = self->below.op_call(op, stream, args, arg_count, outs, out_count);
  if (status == KW_OK) put_call(&c);
  return status;
}

static kw_status plan_run(const kw_plan *plan, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                          kw_tensor **outs, uint32_t out_count) {
  call c = {.op = plan != NULL ? plan->op : NULL,
            .kernel = plan != NULL ? kw_plan_kernel(plan) : "",
            .args = args,
            .arg_count = arg_count,
            .outs = outs,
            .out_count = out_count};
  prepare(&c, stream);
  kw_status status = self->below.plan_run(plan, stream, args, arg_count, outs, out_count);
  if (status == KW_OK) put_call(&c);
  return status;
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

static void put_numbers(kw_capture_type type, const uint64_t *numbers, uint32_t count) {
  kw_bytes record = {0};
  for (uint32_t i = 0; i < count; ++i) kw_capture_u64(&record, numbers[i]);
  kw_capture_file_put(type, &record, NULL, 0);
}

static kw_status graph_begin(kw_stream *stream) {
  kw_status status = self->below.graph_begin(stream);
  if (status == KW_OK) put_numbers(KW_CAPTURE_BEGIN, &stream->token, 1);
  return status;
}

static kw_status graph_end(kw_stream *stream, kw_graph **out_graph) {
  kw_status status = self->below.graph_end(stream, out_graph);
  if (status == KW_OK) {
    const uint64_t number = out_graph != NULL ? kw_capture_new_graph(*out_graph) : 0;
    put_numbers(KW_CAPTURE_GRAPH, (uint64_t[]){stream->token, number}, 2);
  }
  return status;
}

static kw_status graph_launch(kw_graph *graph, kw_stream *stream) {
  kw_status status = self->below.graph_launch(graph, stream);
  const uint64_t number = kw_capture_graph(graph);
  if (status == KW_OK) put_numbers(KW_CAPTURE_LAUNCH, &number, 1);
  return status;
}

static kw_status graph_destroy(kw_graph *graph) {
  const uint64_t number = kw_capture_graph(graph);
  kw_status status = self->below.graph_destroy(graph);
  if (status == KW_OK && graph != NULL) put_numbers(KW_CAPTURE_DESTROY, &number, 1);
  return status;
}

/* ---- The layer --------------------------------------------------------------------------------------------------- */

static void wrap_api(kw_api *api) {
  api->tensor_create = tensor_create;
  api->tensor_create_on = tensor_create_on;
  api->tensor_create_in = tensor_create_in;
  api->tensor_import = tensor_import;
  api->tensor_from_file = tensor_from_file;
  api->tensor_from_dlpack = tensor_from_dlpack;
  api->tensor_from_dlpack_unversioned = tensor_from_dlpack_unversioned;
  api->tensor_write = tensor_write;
  api->tensor_write_async = tensor_write_async;
  api->tensor_read = tensor_read;
  api->tensor_read_async = tensor_read_async;
  api->tensor_map = tensor_map;
  api->tensor_unmap = tensor_unmap;
  api->tensor_to = tensor_to;
  api->tensor_copy_async = tensor_copy_async;
  api->tensor_set_constant = tensor_set_constant;
  api->op_call = op_call;
  api->plan_run = plan_run;
  api->graph_begin = graph_begin;
  api->graph_end = graph_end;
  api->graph_launch = graph_launch;
  api->graph_destroy = graph_destroy;
}

kw_layer kw_capture_layer = {.start = kw_capture_memory_start, .wrap_api = wrap_api};

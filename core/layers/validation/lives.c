/* SPDX-License-Identifier: Apache-2.0
 *
 * Each function that ends something asks the table first, and takes its word back where the library refuses.
 */
#include "layers/validation/lives.h"

#include "layers/validation/host_copies.h"
#include "layers/validation/objects.h"
#include "layers/validation/order.h"

static kw_api below;

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

#define END(name, type, kind)                                                              \
  static kw_status name(type *object) {                                                    \
    bool last;                                                                             \
    if (object == NULL) return below.name(object);                                         \
    if (!kw_object_give(kind, object, &last)) return KW_ERR_INVALID_ARGUMENT;              \
    const kw_status status = below.name(object);                                           \
    if (status == KW_ERR_BUSY || status == KW_ERR_TIMEOUT) kw_object_revive(kind, object); \
    return status;                                                                         \
  }
END(event_destroy, kw_event, KW_KIND_EVENT)
END(device_close, kw_device, KW_KIND_DEVICE)

static kw_status stream_destroy(kw_stream *stream) {
  bool last;
  if (stream == NULL) return below.stream_destroy(stream);
  kw_order_stream_ends(stream);
  if (!kw_object_give(KW_KIND_STREAM, stream, &last)) return KW_ERR_INVALID_ARGUMENT;
  const kw_status status = below.stream_destroy(stream);
  if (status == KW_ERR_BUSY || status == KW_ERR_TIMEOUT) kw_object_revive(KW_KIND_STREAM, stream);
  return status;
}

static kw_status graph_destroy(kw_graph *graph) {
  bool last;
  if (graph == NULL) return below.graph_destroy(graph);
  kw_order_graph_ends(graph);
  if (!kw_object_give(KW_KIND_GRAPH, graph, &last)) return KW_ERR_INVALID_ARGUMENT;
  const kw_status status = below.graph_destroy(graph);
  if (status == KW_ERR_BUSY || status == KW_ERR_TIMEOUT) kw_object_revive(KW_KIND_GRAPH, graph);
  return status;
}

static kw_status energy_end(kw_energy_window *window, kw_energy *out_energy) {
  bool last;
  if (window != NULL && !kw_object_give(KW_KIND_WINDOW, window, &last)) return KW_ERR_INVALID_ARGUMENT;
  return below.energy_end(window, out_energy);
}

#define END_SILENTLY(name, type, kind)                                  \
  static void name(type *object) {                                      \
    bool last;                                                          \
    if (object != NULL && !kw_object_give(kind, object, &last)) return; \
    below.name(object);                                                 \
  }
END_SILENTLY(plan_destroy, kw_plan, KW_KIND_PLAN)
END_SILENTLY(generator_destroy, kw_generator, KW_KIND_GENERATOR)

static bool is_mapped(const kw_tensor *tensor) {
  kw_objects_lock();
  const kw_object *object = kw_object_find(KW_KIND_TENSOR, tensor);
  const bool mapped = object != NULL && object->maps > 0 && object->refs == 1;
  kw_objects_unlock();
  return mapped;
}

static void tensor_release(kw_tensor *tensor) {
  bool last;
  char here[KW_PLACE_SIZE];
  if (tensor == NULL) return;
  if (is_mapped(tensor)) {
    kw_misuse("tensor-released-while-mapped", "%s at %s: the tensor is mapped, and lives on: unmap it first",
              kw_checked_now()->function, kw_place(kw_checked_now()->place, here));
    return;
  }
  if (!kw_object_give(KW_KIND_TENSOR, tensor, &last)) return;
  if (last) kw_order_released(tensor);
  below.tensor_release(tensor);
}

static void tensor_retain(kw_tensor *tensor) {
  if (tensor != NULL && !kw_object_use(kw_checked_now(), "tensor", KW_KIND_TENSOR, tensor)) return;
  if (tensor != NULL) kw_object_begin(KW_KIND_TENSOR, tensor, NULL, false);
  below.tensor_retain(tensor);
}

/* ---- Beginnings -------------------------------------------------------------------------------------------------- */

static kw_status tensor_split_with_sizes(const kw_tensor *tensor, uint32_t count, const int64_t *sizes, int64_t dim,
                                         kw_tensor **out_views) {
  const kw_status status = below.tensor_split_with_sizes(tensor, count, sizes, dim, out_views);
  for (uint32_t i = 0; status == KW_OK && i < count; i++) {
    kw_object_begin(KW_KIND_TENSOR, out_views[i], kw_tensor_device(tensor), false);
  }
  return status;
}

static kw_stream *stream_default(kw_device *device) {
  kw_stream *stream = below.stream_default(device);
  kw_object_begin(KW_KIND_STREAM, stream, device, true);
  return stream;
}

static kw_generator *generator_default(kw_device *device) {
  kw_generator *generator = below.generator_default(device);
  kw_object_begin(KW_KIND_GENERATOR, generator, device, true);
  return generator;
}

/* ---- Places in memory -------------------------------------------------------------------------------------------- */

static kw_status host_alloc(kw_device *device, uint64_t size, void **out_memory) {
  const kw_status status = below.host_alloc(device, size, out_memory);
  if (status != KW_OK) return status;
  kw_object_begin(KW_KIND_HOST, *out_memory, device, false);
  kw_objects_lock();
  kw_object *object = kw_object_find(KW_KIND_HOST, *out_memory);
  if (object != NULL) object->size = size;
  kw_objects_unlock();
  return status;
}

static bool is_copied(const void *memory) {
  kw_objects_lock();
  const kw_object *object = kw_object_find(KW_KIND_HOST, memory);
  const bool copied = object != NULL && kw_host_copies_use(memory, object->size);
  kw_objects_unlock();
  return copied;
}

static kw_status host_free(kw_device *device, void *memory) {
  bool last;
  char here[KW_PLACE_SIZE];
  if (is_copied(memory)) {
    return kw_misuse("host-memory-freed-under-copy",
                     "%s at %s: a copy that has not been waited for uses the memory, which stays",
                     kw_checked_now()->function, kw_place(kw_checked_now()->place, here));
  }
  if (memory != NULL && !kw_object_give(KW_KIND_HOST, memory, &last)) return KW_ERR_INVALID_ARGUMENT;
  return below.host_free(device, memory);
}

static void count_map(const kw_tensor *tensor, int change) {
  kw_objects_lock();
  kw_object *object = kw_object_find(KW_KIND_TENSOR, tensor);
  if (object != NULL) object->maps += (uint32_t)change;
  kw_objects_unlock();
}

static kw_status tensor_map(kw_tensor *tensor, kw_stream *stream, uint64_t flags, void **out_pointer) {
  if ((flags & (KW_MAP_READ | KW_MAP_WRITE)) == 0) kw_checked_suspect("map-for-nothing");
  const kw_status status = below.tensor_map(tensor, stream, flags, out_pointer);
  if (status == KW_OK) {
    kw_order_waited(kw_tensor_device(tensor), stream);
    kw_object_begin(KW_KIND_MAP, *out_pointer, kw_tensor_device(tensor), false);
    count_map(tensor, 1);
  }
  return status;
}

static kw_status tensor_unmap(kw_tensor *tensor, void *pointer) {
  bool last;
  if (!kw_object_give(KW_KIND_MAP, pointer, &last)) return KW_ERR_INVALID_ARGUMENT;
  const kw_status status = below.tensor_unmap(tensor, pointer);
  if (status == KW_ERR_INVALID_ARGUMENT) {
    kw_object_revive(KW_KIND_MAP, pointer);
  } else {
    count_map(tensor, -1);
  }
  return status;
}

static kw_status address_reserve(kw_tensor *tensor, void **out_address) {
  const kw_status status = below.address_reserve(tensor, out_address);
  if (status == KW_OK) kw_object_begin(KW_KIND_ADDRESS, *out_address, kw_tensor_device(tensor), false);
  return status;
}

static kw_status address_assign(void *address, kw_tensor *tensor) {
  if (address != NULL && !kw_object_use(kw_checked_now(), "address", KW_KIND_ADDRESS, address)) {
    return KW_ERR_INVALID_ARGUMENT;
  }
  return below.address_assign(address, tensor);
}

static kw_status address_release(void *address) {
  bool last;
  if (address != NULL && !kw_object_give(KW_KIND_ADDRESS, address, &last)) return KW_ERR_INVALID_ARGUMENT;
  return below.address_release(address);
}

void kw_lives_wrap(kw_api *api) {
  below = *api;
  api->device_close = device_close;
  api->stream_destroy = stream_destroy;
  api->event_destroy = event_destroy;
  api->graph_destroy = graph_destroy;
  api->energy_end = energy_end;
  api->plan_destroy = plan_destroy;
  api->generator_destroy = generator_destroy;
  api->tensor_release = tensor_release;
  api->tensor_retain = tensor_retain;
  api->tensor_split_with_sizes = tensor_split_with_sizes;
  api->stream_default = stream_default;
  api->generator_default = generator_default;
  api->host_alloc = host_alloc;
  api->host_free = host_free;
  api->tensor_map = tensor_map;
  api->tensor_unmap = tensor_unmap;
  api->address_reserve = address_reserve;
  api->address_assign = address_assign;
  api->address_release = address_release;
}

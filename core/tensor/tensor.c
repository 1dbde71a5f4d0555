/* SPDX-License-Identifier: Apache-2.0
 *
 * Making tensors on buffers, and their references.
 */
#include "tensor/tensor.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/struct.h"
#include "device/map.h"
#include "tensor/slots.h"

#include <inttypes.h>
#include <stdlib.h>

/* A dimension that is never stepped may have been given any stride; kernels compute with it all the same. */
static void bound_strides(kw_tensor_ref *ref) {
  for (uint32_t d = 0; d < ref->rank; ++d) {
    int64_t walked = ref->shape[d] > 1 ? ref->shape[d] : 1;
    int64_t most = INT64_MAX / (int64_t)kw_dtype_size(ref->dtype) / walked;
    if (ref->strides[d] > most) ref->strides[d] = most;
  }
}

/* ---- Making ----------------------------------------------------------------------------------------------------- */

static uint32_t alignment_at(const kw_buffer *buffer, uint64_t offset) {
  uint64_t alignment = buffer->alignment < KW_MAX_ALIGNMENT ? buffer->alignment : KW_MAX_ALIGNMENT;
  uint64_t of_offset = offset & (~offset + 1); /* its lowest bit; 0 for 0 */
  return (uint32_t)(of_offset != 0 && of_offset < alignment ? of_offset : alignment);
}

kw_status kw_tensor_on_buffer(kw_buffer *buffer, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                              const int64_t *strides, uint64_t byte_offset, kw_tensor **out_tensor) {
  kw_tensor *tensor = kw_tensor_slot_take();
  if (tensor == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "making a tensor: the host is out of memory.");
  kw_tensor_ref *ref = &tensor->ref;
  ref->struct_size = sizeof *ref;
  ref->dtype = dtype;
  ref->rank = (uint8_t)rank;
  ref->mem = buffer->mem;
  ref->numel = 1;
  for (uint32_t d = 0; d < rank; ++d) {
    ref->shape[d] = shape[d];
    ref->strides[d] = strides[d];
    ref->numel *= shape[d];
  }
  /* A place past the end is of no use to an empty tensor and could make a plugin stumble. */
  if (ref->numel == 0 && byte_offset > buffer->size) byte_offset = 0;
  if (byte_offset > buffer->size || kw_ref_extent(ref) > buffer->size - byte_offset) {
    char text[256];
    kw_ref_describe(ref, text, sizeof text);
    kw_tensor_slot_give(tensor);
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s with these strides at byte %" PRIu64 " reaches past its memory of %" PRIu64
                   " bytes. Use smaller sizes, strides or offset.",
                   text, byte_offset, buffer->size);
  }
  bound_strides(ref);
  ref->offset = buffer->offset + byte_offset;
  ref->alignment = alignment_at(buffer, ref->offset);
  if (buffer->imported && ref->numel > 0 && ref->alignment < kw_dtype_size(dtype)) {
    kw_tensor_slot_give(tensor);
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s elements %" PRIu64
                   " bytes into imported memory whose start is aligned to %u: element 0 must lie "
                   "at a multiple of its size. Copy it to a tensor of the device's own memory.",
                   kw_dtype_name(dtype), byte_offset, buffer->alignment);
  }
  tensor->device = buffer->device;
  tensor->buffer = buffer;
  tensor->fingerprint = kw_fingerprint_of(buffer->device->id, ref, buffer->read_only);
  atomic_init(&tensor->refs, 1);
  kw_buffer_retain(buffer);
  atomic_store_explicit(&tensor->magic, KW_TENSOR_MAGIC, memory_order_release);
  *out_tensor = tensor;
  return KW_OK;
}

typedef kw_status (*allocate_fn)(kw_stream *stream, uint64_t size, kw_buffer **out_buffer);

static kw_status create(const char *function, allocate_fn allocate, kw_stream *stream, kw_dtype dtype, uint32_t rank,
                        const int64_t *shape, kw_tensor **out_tensor) {
  if (out_tensor == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument out_tensor is NULL.", function);
  int64_t numel, strides[KW_MAX_RANK];
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_shape_check(function, dtype, rank, shape, &numel);
  if (status != KW_OK) return status;
  kw_buffer *buffer;
  status = allocate(stream, (uint64_t)numel * kw_dtype_size(dtype), &buffer);
  if (status != KW_OK) return status;
  kw_shape_contiguous_strides(rank, shape, strides);
  status = kw_tensor_on_buffer(buffer, dtype, rank, shape, strides, 0, out_tensor);
  kw_buffer_release(buffer);
  return status;
}

kw_status kw_tensor_create(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                           kw_tensor **out_tensor) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_tensor_create: argument device is NULL.");
  return create("kw_tensor_create", kw_buffer_create, device->default_stream, dtype, rank, shape, out_tensor);
}

kw_status kw_tensor_create_on(kw_stream *stream, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                              kw_tensor **out_tensor) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_tensor_create_on: argument stream is NULL.");
  return create("kw_tensor_create_on", kw_buffer_create, stream, dtype, rank, shape, out_tensor);
}

kw_status kw_tensor_create_for_call(kw_stream *stream, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                    kw_tensor **out_tensor) {
  return create("making a tensor", kw_buffer_create_for_call, stream, dtype, rank, shape, out_tensor);
}

kw_status kw_tensor_create_in(kw_device *device, const kw_memory_options *memory, kw_dtype dtype, uint32_t rank,
                              const int64_t *shape, kw_tensor **out_tensor) {
  static const char function[] = "kw_tensor_create_in";
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument device is NULL.", function);
  if (out_tensor == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument out_tensor is NULL.", function);
  int64_t numel, strides[KW_MAX_RANK];
  kw_memory_options options;
  kw_buffer *buffer;
  kw_status status = kw_struct_check_given(function, memory);
  if (status == KW_OK) status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status == KW_OK) status = kw_shape_check(function, dtype, rank, shape, &numel);
  if (status != KW_OK) return status;
  kw_struct_read(&options, sizeof options, memory);
  status = kw_buffer_create_apart(device, &options, (uint64_t)numel * kw_dtype_size(dtype), &buffer);
  if (status != KW_OK) return kw_wrap(status, "%s", function);
  kw_shape_contiguous_strides(rank, shape, strides);
  status = kw_tensor_on_buffer(buffer, dtype, rank, shape, strides, 0, out_tensor);
  kw_buffer_release(buffer);
  return status;
}

/* ---- Life, facts ------------------------------------------------------------------------------------------------ */

kw_status kw_tensor_check(const char *function, const char *argument, const kw_tensor *tensor) {
  if (tensor != NULL && atomic_load_explicit(&tensor->magic, memory_order_relaxed) == KW_TENSOR_MAGIC) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument %s %s.", function, argument,
                 tensor == NULL ? "is NULL" : "is not a living tensor (released already?)");
}

void kw_tensor_release(kw_tensor *tensor) {
  if (tensor == NULL) return;
  if (kw_tensor_check("kw_tensor_release", "tensor", tensor) != KW_OK) {
    kw_log(KW_LOG_ERROR, "%s", kw_error_message());
    return;
  }
  if (atomic_load_explicit(&tensor->refs, memory_order_relaxed) == 1 && !kw_fork_happened() && kw_map_is_held(tensor)) {
    kw_fail(
        KW_ERR_BUSY,
        "kw_tensor_release: the tensor is mapped, so its memory is not freed. Unmap it first (kw_tensor_unmap), then "
        "release it again.");
    kw_log(KW_LOG_ERROR, "%s", kw_error_message());
    return;
  }
  if (atomic_fetch_sub_explicit(&tensor->refs, 1, memory_order_acq_rel) != 1) return;
  kw_buffer *buffer = tensor->buffer;
  atomic_store_explicit(&tensor->magic, 0, memory_order_relaxed);
  tensor->fingerprint = (kw_fingerprint){0, 0};
  if (atomic_load_explicit(&tensor->noticed, memory_order_relaxed)) kw_device_tell_news(tensor->device);
  if (kw_fork_happened()) return; /* the memory is the parent's, and one of its threads may have held the lock */
  kw_tensor_slot_give(tensor);
  kw_buffer_release(buffer);
}

void kw_tensor_retain(kw_tensor *tensor) {
  if (tensor != NULL) atomic_fetch_add_explicit(&tensor->refs, 1, memory_order_relaxed);
}

const kw_tensor_ref *kw_tensor_describe(const kw_tensor *tensor) {
  return tensor == NULL ? NULL : &tensor->ref;
}

kw_device *kw_tensor_device(const kw_tensor *tensor) {
  return tensor == NULL ? NULL : tensor->device;
}

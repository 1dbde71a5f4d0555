/* SPDX-License-Identifier: Apache-2.0
 *
 * Making tensors on buffers, and their references.
 */
#include "tensor/tensor.h"

#include "base/dtype.h"
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

/* Of powers of two the least is the lowest bit of all. */
static inline uint32_t alignment_at(const kw_buffer *buffer, uint64_t offset) {
  const uint64_t bits = offset | buffer->alignment | KW_MAX_ALIGNMENT;
  return (uint32_t)(bits & (~bits + 1));
}

static __attribute__((noinline, cold)) kw_status fail_host_memory(void) {
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "making a tensor: the host is out of memory.");
}

/* The descriptor's form but for its dimensions. Past the rank sizes and strides are 0, also where the slot's last
 * tensor had some; reserved and layout are 0 in every slot. */
static inline void form(kw_tensor_ref *ref, kw_dtype dtype, uint32_t rank) {
  for (uint32_t d = rank; __builtin_expect(d < ref->rank, 0); ++d) ref->shape[d] = ref->strides[d] = 0;
  ref->struct_size = sizeof *ref;
  ref->dtype = dtype;
  ref->rank = (uint8_t)rank;
}

/* Its place in memory. */
static inline void place(kw_tensor_ref *ref, const kw_buffer *buffer, uint64_t byte_offset) {
  ref->mem = buffer->mem;
  ref->offset = buffer->offset + byte_offset;
  ref->alignment = alignment_at(buffer, ref->offset);
}

/* The last step: the tensor, whose descriptor is complete, has a reference to its buffer from here on. */
static inline void begin_life(kw_tensor *tensor, kw_buffer *buffer, kw_fingerprint fingerprint) {
  tensor->device = buffer->device;
  tensor->buffer = buffer;
  tensor->fingerprint = fingerprint;
  atomic_store_explicit(&tensor->noticed, false, memory_order_relaxed);
  atomic_store_explicit(&tensor->refs, 1, memory_order_relaxed);
  atomic_store_explicit(&tensor->magic, KW_TENSOR_MAGIC, memory_order_release);
}

kw_status kw_tensor_on_buffer(kw_buffer *buffer, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                              const int64_t *strides, uint64_t byte_offset, kw_tensor **out_tensor) {
  kw_tensor *tensor = kw_tensor_slot_take();
  if (tensor == NULL) return fail_host_memory();
  kw_tensor_ref *ref = &tensor->ref;
  form(ref, dtype, rank);
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
  place(ref, buffer, byte_offset);
  if (buffer->imported && ref->numel > 0 && ref->alignment < kw_dtype_size(dtype)) {
    kw_tensor_slot_give(tensor);
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s elements %" PRIu64
                   " bytes into imported memory whose start is aligned to %u: element 0 must lie "
                   "at a multiple of its size. Copy it to a tensor of the device's own memory.",
                   kw_dtype_name(dtype), byte_offset, buffer->alignment);
  }
  kw_buffer_retain(buffer);
  begin_life(tensor, buffer, kw_fingerprint_of(buffer->device->fingerprint_seed, ref, buffer->read_only));
  *out_tensor = tensor;
  return KW_OK;
}

/* The form of contiguous elements, and what their sizes add to the fingerprint. False for what kw_shape_check refuses:
 * then the descriptor is half formed. */
static inline bool form_contiguous(kw_tensor *tensor, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                   uint64_t *out_bytes) {
  kw_tensor_ref *ref = &tensor->ref;
  if (kw_dtype_item(dtype) == 0 || rank > KW_MAX_RANK || (shape == NULL && rank > 0)) return false;
  form(ref, dtype, rank);
  uint64_t numel = 1, signs = 0;
  int64_t stride = 1;
  bool overflows = false;
  kw_wide sum = 0;
  for (uint32_t d = rank; d-- > 0;) {
    const uint64_t size = (uint64_t)shape[d];
    ref->shape[d] = shape[d];
    ref->strides[d] = stride;
    sum += kw_fingerprint_of_size(d, size);
    numel *= size;
    signs |= size;
    overflows |= __builtin_mul_overflow(stride, size > 1 ? size : 1, &stride);
  }
  tensor->fingerprint = kw_fingerprint_end(sum);
  ref->numel = (int64_t)numel;
  *out_bytes = kw_ref_bytes(ref);
  return !__builtin_mul_overflow(stride, kw_dtype_item(ref->dtype), &stride) && !overflows && signs <= INT64_MAX;
}

/* Why a tensor was not made. */
static __attribute__((noinline, cold)) kw_status give_up(kw_tensor *tensor, kw_status status) {
  memset(&tensor->ref, 0, sizeof tensor->ref);
  kw_tensor_slot_give(tensor);
  return status;
}

static __attribute__((noinline, cold)) kw_status refuse_shape(kw_tensor *tensor, const char *function, kw_dtype dtype,
                                                              uint32_t rank, const int64_t *shape) {
  int64_t numel;
  return give_up(tensor, kw_shape_check(function, dtype, rank, shape, &numel));
}

/* In a forked child it is the device that refuses, which is lost there. */
typedef kw_status (*allocate_fn)(kw_stream *stream, uint64_t size, kw_buffer **out_buffer);

static inline __attribute__((always_inline)) kw_status create(const char *function, allocate_fn allocate,
                                                              kw_stream *stream, kw_dtype dtype, uint32_t rank,
                                                              const int64_t *shape, kw_tensor **out_tensor) {
  if (out_tensor == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument out_tensor is NULL.", function);
  kw_tensor *tensor = kw_tensor_slot_take();
  if (__builtin_expect(tensor == NULL, 0)) return fail_host_memory();
  uint64_t bytes;
  kw_buffer *buffer;
  if (__builtin_expect(!form_contiguous(tensor, dtype, rank, shape, &bytes), 0)) {
    return refuse_shape(tensor, function, dtype, rank, shape);
  }
  const kw_status status = allocate(stream, bytes, &buffer);
  if (__builtin_expect(status != KW_OK, 0)) return give_up(tensor, status);
  place(&tensor->ref, buffer, 0);
  begin_life(tensor, buffer,
             kw_fingerprint_end(kw_fingerprint_of_rest(buffer->device->fingerprint_seed, &tensor->ref, false) +
                                kw_fingerprint_sum(tensor->fingerprint)));
  *out_tensor = tensor;
  return KW_OK;
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

kw_status kw_tensor_refuse(const char *function, const char *argument, const kw_tensor *tensor) {
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument %s %s.", function, argument,
                 tensor == NULL ? "is NULL" : "is not a living tensor (released already?)");
}

/* One reference fewer. True: it was the last, and the tensor does not live any more. */
static inline bool drop(kw_tensor *tensor) {
  if (atomic_fetch_sub_explicit(&tensor->refs, 1, memory_order_acq_rel) != 1) return false;
  atomic_store_explicit(&tensor->magic, 0, memory_order_relaxed);
  tensor->fingerprint = (kw_fingerprint){0, 0};
  if (atomic_load_explicit(&tensor->noticed, memory_order_relaxed)) kw_device_tell_news(tensor->device);
  return true;
}

static inline void give_back(kw_tensor *tensor) {
  kw_buffer *buffer = tensor->buffer;
  kw_tensor_slot_give(tensor);
  kw_buffer_release(buffer);
}

/* A tensor that is mapped stays. In a forked child the memory is the parent's, and one of its threads may have held a
 * lock. */
static __attribute__((noinline, cold)) void release_barred(kw_tensor *tensor) {
  const bool forked = kw_fork_happened();
  if (!forked && atomic_load_explicit(&tensor->refs, memory_order_relaxed) == 1 && kw_map_is_held(tensor)) {
    kw_fail(
        KW_ERR_BUSY,
        "kw_tensor_release: the tensor is mapped, so its memory is not freed. Unmap it first (kw_tensor_unmap), then "
        "release it again.");
    kw_log(KW_LOG_ERROR, "%s", kw_error_message());
  } else if (drop(tensor) && !forked) {
    give_back(tensor);
  }
}

static __attribute__((noinline, cold)) void log_dead(const kw_tensor *tensor) {
  kw_tensor_refuse("kw_tensor_release", "tensor", tensor);
  kw_log(KW_LOG_ERROR, "%s", kw_error_message());
}

void kw_tensor_release(kw_tensor *tensor) {
  if (tensor == NULL) return;
  if (__builtin_expect(!kw_tensor_lives(tensor), 0)) {
    log_dead(tensor);
  } else if (__builtin_expect(kw_release_is_barred(), 0)) {
    release_barred(tensor);
  } else if (drop(tensor)) {
    give_back(tensor);
  }
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

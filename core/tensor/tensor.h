/* SPDX-License-Identifier: Apache-2.0
 *
 * A tensor: a descriptor and the buffer that it describes.
 */
#ifndef KEYWAY_CORE_TENSOR_H
#define KEYWAY_CORE_TENSOR_H

#include "base/fingerprint.h"
#include "base/ref.h"
#include "device/allocator.h"

#define KW_TENSOR_MAGIC 0x6b777473u /* "kwts" */

/* ref comes first: an application's kw_value points at it, and kernels read it in place. */
struct kw_tensor {
  kw_tensor_ref ref;
  atomic_uint magic; /* KW_TENSOR_MAGIC while alive; may be read after that: tensor/slots.h */
  atomic_uint refs;
  kw_device *device; /* = buffer->device */
  kw_buffer *buffer;
  kw_fingerprint fingerprint; /* of ref on device; what plans go by */
  atomic_bool noticed;        /* its end is news of the device */
};

/* From now on its end is news of the device. */
static inline void kw_tensor_notice(kw_tensor *tensor) {
  atomic_store_explicit(&tensor->noticed, true, memory_order_relaxed);
}

/* Whether it lies in memory that nothing may write to. A stand-in for a tensor has no memory (call/query.c). */
static inline bool kw_tensor_bars_writing(const kw_tensor *tensor) {
  return tensor->buffer != NULL && tensor->buffer->read_only;
}

/* A tensor on an existing buffer (one more reference to it). byte_offset is relative to the buffer. Checks that it
 * fits; fills numel and alignment. dtype, rank, shape, strides are trusted otherwise. */
kw_status kw_tensor_on_buffer(kw_buffer *buffer, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                              const int64_t *strides, uint64_t byte_offset, kw_tensor **out_tensor);

/* kw_tensor_create_on for what a call makes itself, results among them: of the graph's pool while the calling thread
 * records on the stream. */
kw_status kw_tensor_create_for_call(kw_stream *stream, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                    kw_tensor **out_tensor);

static inline bool kw_tensor_lives(const kw_tensor *tensor) {
  return atomic_load_explicit(&tensor->magic, memory_order_relaxed) == KW_TENSOR_MAGIC;
}
/* KW_ERR_INVALID_ARGUMENT for NULL or a tensor that does not live; names function and argument. */
kw_status kw_tensor_refuse(const char *function, const char *argument, const kw_tensor *tensor);
/* That, or KW_OK for a living tensor. */
static inline kw_status kw_tensor_check(const char *function, const char *argument, const kw_tensor *tensor) {
  return tensor != NULL && kw_tensor_lives(tensor) ? KW_OK : kw_tensor_refuse(function, argument, tensor);
}

#endif /* KEYWAY_CORE_TENSOR_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator, which gives out buffers.
 */
#ifndef KEYWAY_CORE_ALLOCATOR_H
#define KEYWAY_CORE_ALLOCATOR_H

#include "device/buffer.h"
#include "device/import.h"
#include "device/stream.h"

kw_status kw_allocator_create(kw_device *device); /* sets device->allocator */
void kw_allocator_destroy(kw_device *device);     /* frees everything held */

/* size 0 is fine: a buffer with size 0 and a valid mem. One retry after flushing caches on KW_ERR_OUT_OF_MEMORY; the
 * final message carries the statistics. The buffer starts with one reference. */
kw_status kw_buffer_create(kw_stream *stream, uint64_t size, kw_buffer **out_buffer);
/* The same for what a call makes itself: of the graph's pool while the calling thread records on the stream. */
kw_status kw_buffer_create_for_call(kw_stream *stream, uint64_t size, kw_buffer **out_buffer);
/* All of an import, or of memory that the plugin allocated apart, which the buffer owns from now on: it ends when no
 * stream uses the buffer any more. On failure it is still the caller's. */
kw_status kw_buffer_on_import(kw_device *device, kw_import *import, kw_buffer **out_buffer);
/* Of memory that the plugin allocates apart from all caches, as `options` say. One retry as above. */
kw_status kw_buffer_create_apart(kw_device *device, const kw_memory_options *options, uint64_t size,
                                 kw_buffer **out_buffer);
void kw_buffer_retain(kw_buffer *buffer);
void kw_buffer_release(kw_buffer *buffer);

/* Notes that `stream` uses the buffer, so that its reuse waits for that stream; or that a recording does, which keeps
 * it. Call before each launch or copy. */
void kw_buffer_use_foreign(kw_buffer *buffer, kw_stream *stream);
static inline void kw_buffer_use(kw_buffer *buffer, kw_stream *stream) {
  if (atomic_load_explicit(&stream->recorder, memory_order_relaxed) == 0) {
    if (atomic_load_explicit(&buffer->stream, memory_order_relaxed) == stream) return;
    if (atomic_load_explicit(&buffer->noted, memory_order_relaxed) == stream->token) return;
  }
  kw_buffer_use_foreign(buffer, stream);
}

/* Apart the buffer is of no stream: each use is noted as a foreign one's. */
void kw_buffer_set_apart(kw_buffer *buffer, bool apart);

/* Whether the stream may have work that uses the buffer. */
bool kw_buffer_used_on(const kw_buffer *buffer, const kw_stream *stream);

/* A stream is about to be destroyed: its cached and pending blocks go to the device's default stream. The stream is
 * idle. Live buffers of the stream move as well. */
void kw_allocator_forget_stream(kw_stream *stream);

/* A graph is about to be destroyed, and no stream runs it: its memory goes to the stream that it was recorded on, live
 * buffers and all. */
void kw_allocator_forget_pool(kw_device *device, kw_pool *pool);

#endif /* KEYWAY_CORE_ALLOCATOR_H */

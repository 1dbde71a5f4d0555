/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling device memory with a pattern.
 */
#ifndef KEYWAY_CORE_FILL_H
#define KEYWAY_CORE_FILL_H

#include "device/allocator.h"

/* Enqueues a fill of `size` bytes of memory with a pattern of 1, 2, 4, 8 or 16 bytes; offset and size are multiples of
 * it. Where the plugin has no fill it copies from host memory and waits (then KW_ERR_BUSY inside a callback). */
kw_status kw_memory_fill(kw_stream *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                         uint32_t pattern_size);

/* KW_OK, or KW_ERR_INVALID_ARGUMENT where [offset, offset + size) of the buffer cannot be filled with this pattern. */
kw_status kw_buffer_check_fill(const kw_buffer *buffer, uint64_t offset, uint64_t size, uint32_t pattern_size);

/* kw_memory_fill of [offset, offset + size) of the buffer, checked. Notes the use. */
kw_status kw_buffer_fill(kw_buffer *buffer, kw_stream *stream, uint64_t offset, uint64_t size, const void *pattern,
                         uint32_t pattern_size);

#endif /* KEYWAY_CORE_FILL_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory of the library's own that streams copy from and to. A stream may still touch it after a wait that failed:
 * then the stream holds it until a later wait for it went well, or until it is destroyed.
 */
#ifndef KEYWAY_CORE_HOST_MEMORY_H
#define KEYWAY_CORE_HOST_MEMORY_H

#include "device/stream.h"

#define KW_STAGING_SIZE (UINT64_C(16) << 20) /* bytes */

typedef struct kw_host_memory {
  void *bytes;       /* aligned to 64 bytes */
  kw_device *device; /* that keeps it: of kw_staging_take; otherwise NULL */
  uint64_t since;    /* while held: how many waits for the stream had begun */
  struct kw_host_memory *next;
} kw_host_memory;

/* `size` bytes, contents undefined; NULL when there is no memory. */
kw_host_memory *kw_host_memory_take(uint64_t size);
/* KW_STAGING_SIZE bytes, which the device copies from and to fastest; it keeps one such piece for the next who asks.
 * NULL when there is no memory. */
kw_host_memory *kw_staging_take(kw_device *device);

/* Gives memory back whose copies were all enqueued on `stream`. `passed`: they have ended (kw_stream_wait,
 * kw_stream_drain), and no stream is needed; otherwise the stream holds the memory. NULL is ignored. */
void kw_host_memory_give(kw_stream *stream, kw_host_memory *memory, bool passed);

/* Around each wait for a stream: begin numbers it, and when it went well, settle frees what was held before it began.
 */
uint64_t kw_host_memory_begin_wait(kw_stream *stream);
void kw_host_memory_settle(kw_stream *stream, uint64_t wait);
/* The plugin's stream has been destroyed: frees all that it held. */
void kw_host_memory_free_held(kw_stream *stream);

/* Frees what the device keeps, before it closes. */
void kw_staging_free(kw_device *device);

#endif /* KEYWAY_CORE_HOST_MEMORY_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * A buffer: the device memory of one tensor and its views. The allocator gives it out.
 */
#ifndef KEYWAY_CORE_BUFFER_H
#define KEYWAY_CORE_BUFFER_H

#include <keyway/keyway.h>

#include <stdatomic.h>

typedef struct kw_buffer {
  kw_mem mem;
  uint64_t offset;             /* of the first byte inside mem */
  uint64_t size;               /* bytes asked for (views are checked against it) */
  uint32_t alignment;          /* of mem's first byte: a power of two */
  bool imported;               /* somebody else's memory: device/import.h */
  bool read_only;              /* no op, copy or fill may write to it */
  bool cached;                 /* it comes from its stream's pool and returns there by the cache: block_cache.h */
  atomic_uint cache_set;       /* where */
  _Atomic(kw_stream *) stream; /* whose pool it came from and returns to; NULL while it is constant */
  atomic_ullong constant;      /* 0: it is not; otherwise which time: device/constant.h */
  atomic_bool graph_writes;    /* a graph was recorded that writes to it, and any launch of that may */
  kw_device *device;           /* holds a reference while it is live */
  atomic_uint refs;
  atomic_ullong noted;            /* token of the foreign stream noted last */
  uint64_t graph;                 /* id of the graph from whose pool it came; 0 = from a stream's */
  struct kw_foreign_use *foreign; /* other streams that used it, under the allocator's lock */
} kw_buffer;

#endif /* KEYWAY_CORE_BUFFER_H */

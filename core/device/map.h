/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps: ranges of device memory that the host holds a pointer to, the memory's own where the plugin gives one,
 * otherwise to a copy.
 */
#ifndef KEYWAY_CORE_MAP_H
#define KEYWAY_CORE_MAP_H

#include "device/allocator.h"

/* A range of a buffer, on behalf of `owner`: whose map it is. */
typedef struct kw_map_range {
  const void *owner;
  kw_buffer *buffer; /* kept alive by the owner */
  uint64_t offset;   /* bytes from the start of the buffer's mem */
  uint64_t size;     /* may be 0 */
  uint64_t flags;    /* KW_MAP_* */
} kw_map_range;

/* Waits for the stream, a stream of the buffer's device, and maps. KW_ERR_BUSY where ranges of maps overlap and one is
 * for writing. On behalf of `function`, as all here. */
kw_status kw_map_begin(const char *function, const kw_map_range *range, kw_stream *stream, void **out_pointer);
/* Ends the owner's newest map that gave `pointer`. */
kw_status kw_map_end(const char *function, const void *owner, const void *pointer);

/* Whether the owner has maps. Takes a lock: each map bars plain releases (base/fork.h), so while none does it need not
 * be asked. */
bool kw_map_is_held(const void *owner);

#endif /* KEYWAY_CORE_MAP_H */

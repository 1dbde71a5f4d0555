/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps. All of the process are in one list: there are few, and each is as slow as a wait.
 */
#include "device/map.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/trace.h"
#include "device/constant.h"
#include "device/copy.h"
#include "device/host_memory.h"
#include "device/wait.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct map {
  kw_map_range range;
  uint64_t stream;      /* token of the stream that it was made on */
  void *pointer;        /* NULL while it is being made or ended */
  kw_host_memory *copy; /* that the pointer is to; NULL where it is the plugin's */
  struct map *next;
} map;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static map *maps; /* the newest first */

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static bool collides(const kw_map_range *a, const kw_map_range *b) {
  return a->buffer->mem == b->buffer->mem && a->buffer->device == b->buffer->device &&
         ((a->flags | b->flags) & KW_MAP_WRITE) != 0 && a->offset < b->offset + b->size &&
         b->offset < a->offset + a->size;
}

static kw_status enter(const char *function, map *entry) {
  pthread_mutex_lock(&lock);
  const map *other = maps;
  while (other != NULL && !collides(&entry->range, &other->range)) other = other->next;
  if (other == NULL) {
    entry->next = maps;
    maps = entry;
    atomic_fetch_add(&kw_release_bars, 1);
  }
  pthread_mutex_unlock(&lock);
  if (other == NULL) return KW_OK;
  return kw_fail(KW_ERR_BUSY,
                 "%s: %" PRIu64
                 " bytes of the memory are mapped already, and one of the two maps is for writing. Unmap "
                 "the other one first (kw_tensor_unmap).",
                 function, other->range.size);
}

static void leave(map *entry) {
  pthread_mutex_lock(&lock);
  map **link = &maps;
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
  atomic_fetch_sub(&kw_release_bars, 1);
  pthread_mutex_unlock(&lock);
  free(entry);
}

/* The owner's newest map that gave the pointer, which nobody else finds from now on. */
static map *take(const void *owner, const void *pointer) {
  pthread_mutex_lock(&lock);
  map *entry = maps;
  while (entry != NULL && (entry->range.owner != owner || entry->pointer != pointer)) entry = entry->next;
  if (entry != NULL) entry->pointer = NULL;
  pthread_mutex_unlock(&lock);
  return entry;
}

bool kw_map_is_held(const void *owner) {
  pthread_mutex_lock(&lock);
  const map *entry = maps;
  while (entry != NULL && entry->range.owner != owner) entry = entry->next;
  pthread_mutex_unlock(&lock);
  return entry != NULL;
}

/* ---- By a copy --------------------------------------------------------------------------------------------------- */

static kw_status copy_between(const char *function, const map *entry, kw_copy_kind kind, kw_stream *stream,
                              bool *out_passed) {
  const kw_map_range *range = &entry->range;
  const bool in = kind == KW_COPY_HOST_TO_DEVICE;
  const kw_copy_info copy = {.struct_size = sizeof copy,
                             .kind = kind,
                             .dst_host = in ? NULL : entry->copy->bytes,
                             .dst_mem = in ? range->buffer->mem : NULL,
                             .dst_offset = in ? range->offset : 0,
                             .src_host = in ? entry->copy->bytes : NULL,
                             .src_mem = in ? NULL : range->buffer->mem,
                             .src_offset = in ? 0 : range->offset,
                             .size = range->size};
  (in ? kw_buffer_change : kw_buffer_use)(range->buffer, stream);
  kw_status status = kw_copy_enqueue(stream, &copy);
  *out_passed = status != KW_OK; /* then there is no copy */
  return status == KW_OK ? kw_stream_wait(function, stream, out_passed) : status;
}

static kw_status map_copy(const char *function, map *entry, kw_stream *stream, void **out_pointer) {
  bool passed = true;
  entry->copy = kw_host_memory_take(entry->range.size);
  if (entry->copy == NULL) {
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: the host is out of memory: %" PRIu64 " bytes for a copy to map.",
                   function, entry->range.size);
  }
  kw_status status = KW_OK;
  if ((entry->range.flags & KW_MAP_READ) != 0 && entry->range.size > 0) {
    status = copy_between(function, entry, KW_COPY_DEVICE_TO_HOST, stream, &passed);
  }
  if (status == KW_OK) {
    *out_pointer = entry->copy->bytes;
  } else {
    kw_host_memory_give(stream, entry->copy, passed);
  }
  return status;
}

static kw_status unmap_copy(const char *function, map *entry, kw_stream *stream) {
  bool passed = true;
  kw_status status = KW_OK;
  if ((entry->range.flags & KW_MAP_WRITE) != 0 && entry->range.size > 0) {
    status = copy_between(function, entry, KW_COPY_HOST_TO_DEVICE, stream, &passed);
  }
  kw_host_memory_give(stream, entry->copy, passed);
  return status;
}

/* ---- By the plugin ----------------------------------------------------------------------------------------------- */

static kw_map_info describe(const kw_map_range *range) {
  return (kw_map_info){.struct_size = sizeof(kw_map_info),
                       .flags = range->flags,
                       .mem = range->buffer->mem,
                       .offset = range->offset,
                       .size = range->size};
}

/* KW_ERR_UNSUPPORTED, with no error text: by a copy, then. */
static kw_status map_native(const kw_map_range *range, kw_stream *stream, void **out_pointer) {
  kw_device *device = stream->device;
  if ((device->plugin->native & KW_NATIVE_MAP) == 0 || range->size == 0) return KW_ERR_UNSUPPORTED;
  const kw_map_info info = describe(range);
  const uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, memory.map, device->handle, stream->handle, &info, out_pointer);
  kw_trace_stream_span("copy", "map", device->name, begin, stream->token, 0);
  if (status == KW_OK && *out_pointer == NULL) {
    return kw_fail(KW_ERR_INTERNAL, "%s: memory.map says KW_OK and gives no pointer", device->name);
  }
  if (status == KW_OK || status == KW_ERR_UNSUPPORTED) return status;
  return kw_device_mark_if_lost(device,
                                kw_from_plugin(status, "mapping %" PRIu64 " bytes of %s", range->size, device->name));
}

static kw_status unmap_native(const kw_map_range *range, kw_stream *stream, void *pointer) {
  kw_device *device = stream->device;
  const kw_map_info info = describe(range);
  kw_status status = KW_ASK(device->slots, memory.unmap, device->handle, stream->handle, &info, pointer);
  if (status == KW_OK) return KW_OK;
  return kw_device_mark_if_lost(device,
                                kw_from_plugin(status, "unmapping %" PRIu64 " bytes of %s", range->size, device->name));
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

kw_status kw_map_begin(const char *function, const kw_map_range *range, kw_stream *stream, void **out_pointer) {
  map *entry = calloc(1, sizeof *entry);
  if (entry == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: the host is out of memory.", function);
  *entry = (map){.range = *range, .stream = stream->token};
  kw_status status = enter(function, entry);
  if (status != KW_OK) {
    free(entry);
    return status;
  }
  bool passed;
  void *pointer = NULL;
  (range->flags & KW_MAP_WRITE ? kw_buffer_change : kw_buffer_use)(range->buffer, stream);
  status = kw_stream_wait(function, stream, &passed);
  if (status == KW_OK) {
    status = map_native(range, stream, &pointer);
    if (status == KW_ERR_UNSUPPORTED) status = map_copy(function, entry, stream, &pointer);
  }
  if (status != KW_OK) {
    leave(entry);
    return status;
  }
  pthread_mutex_lock(&lock);
  entry->pointer = *out_pointer = pointer;
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

kw_status kw_map_end(const char *function, const void *owner, const void *pointer) {
  map *entry = pointer != NULL ? take(owner, pointer) : NULL;
  if (entry == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: no map of this tensor has given %p: it is unmapped already, or another tensor's.", function,
                   pointer);
  }
  kw_stream *stream = kw_stream_pin(entry->stream); /* it may have been destroyed since */
  kw_stream *used = stream != NULL ? stream : entry->range.buffer->device->default_stream;
  kw_status status = entry->copy != NULL ? unmap_copy(function, entry, used)
                                         : unmap_native(&entry->range, used, (void *)(uintptr_t)pointer);
  if (stream != NULL) kw_stream_unpin(stream);
  leave(entry);
  return status;
}

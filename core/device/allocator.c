/* SPDX-License-Identifier: Apache-2.0
 *
 * Caching allocator over a plugin's alloc and free.
 *
 * Segments come from the plugin and belong to one stream; blocks tile a segment. A freed block goes to the cache, and
 * from there to its stream's pool when the cache is full or all free memory is looked at; it serves that stream again
 * at once: the stream itself keeps the order. A block that other streams used waits in the pending list for an event on
 * each of them. Small requests share segments of 2 MiB, large ones get segments of their own, split when a useful
 * remainder is left. What a graph's calls make comes from the graph's pool, which serves no other calls.
 */
#include "device/allocator.h"

#include "base/array.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/trace.h"
#include "device/allocator_state.h"
#include "device/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT (UINT64_C(2) << 20)  /* of small requests; large ones are rounded up to it */
#define ROUNDING (UINT64_C(4) << 20) /* more than any rounding adds */

static uint64_t round_up(uint64_t size, uint64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

/* ---- Segments; under the mutex ----------------------------------------------------------------------------------- */

static void add_segment(struct kw_allocator *allocator, kw_segment *segment) {
  segment->next = allocator->segments;
  if (segment->next != NULL) segment->next->prev = segment;
  allocator->segments = segment;
}

static void remove_segment(struct kw_allocator *allocator, kw_segment *segment) {
  if (segment->prev != NULL) segment->prev->next = segment->next;
  if (segment->next != NULL) segment->next->prev = segment->prev;
  if (allocator->segments == segment) allocator->segments = segment->next;
  segment->next = segment->prev = NULL;
}

/* ---- Pending blocks --------------------------------------------------------------------------------------------- */

static void destroy_event(kw_device *device, void *event) {
  kw_status status = KW_ASK(device->slots, event.destroy, device->handle, event);
  if (status == KW_OK) return;
  kw_device_mark_if_lost(device, kw_from_plugin(status, "destroying an event of %s", device->name));
  kw_log(KW_LOG_WARN, "%s", kw_error_message());
}

/* False: the wait has ended at its limit, and the stream may still use memory. */
static bool drain_token(uint64_t token) {
  kw_stream *stream = kw_stream_pin(token);
  if (stream == NULL) return true; /* destroyed, or idle and about to be */
  kw_status status = kw_stream_drain(stream);
  kw_stream_unpin(stream);
  return status != KW_ERR_TIMEOUT;
}

static bool use_passed(kw_device *device, const kw_foreign_use *use, bool wait) {
  if (atomic_load(&device->lost)) return true;
  if (use->token == KW_ANY_STREAM) return wait && kw_stream_drain_all(device) != KW_ERR_TIMEOUT;
  if (use->has_event && !wait) {
    kw_status status = kw_device_mark_if_lost(device, KW_ASK(device->slots, event.query, device->handle, use->event));
    return status == KW_OK;
  }
  if (use->has_event) {
    kw_status status = KW_ASK(device->slots, event.synchronize, device->handle, use->event, kw_wait_limit(device));
    if (status == KW_OK || status == KW_ERR_TIMEOUT) return status == KW_OK;
    kw_device_mark_if_lost(device, kw_from_plugin(status, "waiting for memory in use on %s", device->name));
    kw_log(KW_LOG_WARN, "%s", kw_error_message());
  }
  if (wait) return drain_token(use->token);
  kw_stream *stream = kw_stream_pin(use->token);
  if (stream != NULL) kw_stream_unpin(stream);
  return stream == NULL;
}

static void drop_passed_uses(kw_device *device, kw_foreign_use **link, bool wait) {
  while (*link != NULL) {
    kw_foreign_use *use = *link;
    if (!use_passed(device, use, wait)) {
      link = &use->next;
      continue;
    }
    if (use->has_event) destroy_event(device, use->event);
    *link = use->next;
    if (use->token != KW_ANY_STREAM) free(use);
  }
}

/* Ends imports: blocks that no stream uses any more, listed by next_in. Without the mutex: it calls the owners. */
static void end_imports(kw_device *device, kw_block *list) {
  while (list != NULL) {
    kw_block *block = list;
    list = block->next_in;
    kw_import *import = block->segment->import;
    if (import->allocated) kw_memory_count_freed(&device->memory, import->size);
    kw_import_end(device, import);
    free(block->segment);
    free(block);
  }
}

/* Returns pending blocks whose foreign streams have passed to their pools, or to their owners; with `wait` all of them.
 */
static void reclaim(kw_device *device, bool wait) {
  struct kw_allocator *allocator = device->allocator;
  pthread_mutex_lock(&allocator->mutex);
  while (wait && allocator->reclaiming > 0) pthread_cond_wait(&allocator->reclaimed, &allocator->mutex);
  kw_block *list = allocator->pending;
  allocator->pending = NULL;
  if (list != NULL) ++allocator->reclaiming;
  pthread_mutex_unlock(&allocator->mutex);
  if (list == NULL) return;

  for (kw_block *block = list; block != NULL; block = block->next_in) drop_passed_uses(device, &block->uses, wait);

  kw_block *ended = NULL;
  pthread_mutex_lock(&allocator->mutex);
  while (list != NULL) {
    kw_block *block = list;
    list = block->next_in;
    block->next_in = NULL;
    if (block->uses == NULL && block->segment->import != NULL) {
      block->next_in = ended;
      ended = block;
    } else if (block->uses == NULL) {
      kw_pool_put(block);
    } else {
      block->next_in = allocator->pending;
      allocator->pending = block;
    }
  }
  --allocator->reclaiming;
  pthread_cond_broadcast(&allocator->reclaimed);
  pthread_mutex_unlock(&allocator->mutex);
  end_imports(device, ended);
}

/* ---- Giving memory back to the plugin ---------------------------------------------------------------------------- */

static void free_segment(kw_device *device, kw_segment *segment) {
  uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, memory.dealloc, device->handle, segment->mem);
  kw_trace_span("alloc", "free", device->name, begin);
  if (status != KW_OK) {
    kw_device_mark_if_lost(device,
                           kw_from_plugin(status, "freeing %" PRIu64 " bytes on %s", segment->size, device->name));
    kw_log(KW_LOG_WARN, "%s", kw_error_message());
  }
  kw_memory_count_freed(&device->memory, segment->size);
  kw_device_trace_memory(device);
  for (kw_block *block = segment->first; block != NULL;) {
    kw_block *next = block->next;
    free(block);
    block = next;
  }
  free(segment);
}

static void put_segment_back(struct kw_allocator *allocator, kw_segment *segment) {
  pthread_mutex_lock(&allocator->mutex);
  add_segment(allocator, segment);
  kw_pool_put(segment->first);
  pthread_mutex_unlock(&allocator->mutex);
}

/* Frees all segments without a live block, each after its stream has passed; what one holds that does not pass in time
 * is put back. The caller holds `flushing`. */
static void free_idle_segments(kw_device *device) {
  struct kw_allocator *allocator = device->allocator;
  kw_segment *idle = NULL;
  pthread_mutex_lock(&allocator->mutex);
  kw_block_cache_empty(&allocator->cache);
  for (kw_segment *segment = allocator->segments, *next; segment != NULL; segment = next) {
    next = segment->next;
    if (!segment->first->free || segment->first->next != NULL || segment->pool->graph != 0) continue;
    kw_pool_remove(segment->first);
    remove_segment(allocator, segment);
    segment->next = idle;
    idle = segment;
  }
  pthread_mutex_unlock(&allocator->mutex);
  while (idle != NULL) {
    uint64_t token = idle->token;
    kw_stream *stream = kw_stream_pin(token); /* not destroyed before what it has not passed is its own again */
    const bool passed = stream == NULL || kw_stream_drain(stream) != KW_ERR_TIMEOUT;
    for (kw_segment **link = &idle; *link != NULL;) {
      kw_segment *segment = *link;
      if (segment->token != token) {
        link = &segment->next;
        continue;
      }
      *link = segment->next;
      segment->next = NULL;
      if (passed) {
        free_segment(device, segment);
      } else {
        put_segment_back(allocator, segment);
      }
    }
    if (stream != NULL) kw_stream_unpin(stream);
  }
}

/* ---- Getting memory from the plugin ------------------------------------------------------------------------------ */

/* A fresh segment, its whole block taken, in no list. Plain status of the plugin. */
static kw_status allocate_segment(kw_stream *stream, kw_pool *pool, uint64_t size, bool large, kw_block **out_block) {
  kw_device *device = stream->device;
  kw_segment *segment = calloc(1, sizeof *segment);
  kw_block *block = calloc(1, sizeof *block);
  if (segment == NULL || block == NULL) {
    free(segment);
    free(block);
    return kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "the host is out of memory"));
  }
  kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = device->info.mem_alignment};
  kw_mem mem = NULL;
  uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, memory.alloc, device->handle, &info, &mem);
  if (kw_trace_on()) {
    char detail[120];
    snprintf(detail, sizeof detail, "%" PRIu64 " bytes on %s", size, device->name);
    kw_trace_span("alloc", "alloc", detail, begin);
  }
  if (status == KW_OK && mem == NULL) {
    status = kw_error_offer(kw_fail(KW_ERR_INTERNAL, "memory.alloc returned KW_OK and no memory"));
  }
  if (status != KW_OK) {
    free(segment);
    free(block);
    return status;
  }
  *segment = (kw_segment){
      .mem = mem, .size = size, .pool = pool, .stream = stream, .token = stream->token, .large = large, .first = block};
  *block = (kw_block){.segment = segment, .size = size};
  *out_block = block;
  return KW_OK;
}

/* Gets a block from the plugin: of `segment_size` bytes, cut to `size`. */
static kw_status grow(kw_stream *stream, kw_pool *pool, uint64_t size, uint64_t segment_size, bool large,
                      kw_block **out_block) {
  struct kw_allocator *allocator = stream->device->allocator;
  kw_block *block = NULL;
  kw_status status = allocate_segment(stream, pool, segment_size, large, &block);
  kw_memory_count(&stream->device->memory.plugin_allocs);
  if (status != KW_OK) return status;
  kw_memory_rise(&stream->device->memory.held, segment_size);
  kw_device_trace_memory(stream->device);
  pthread_mutex_lock(&allocator->mutex);
  add_segment(allocator, block->segment);
  pool->bytes += segment_size;
  kw_block_split(block, size);
  *out_block = block;
  pthread_mutex_unlock(&allocator->mutex);
  return KW_OK;
}

static kw_status fail_out_of_memory(kw_device *device, uint64_t requested, const char *tried) {
  kw_memory_count(&device->memory.oom_failures);
  const kw_memory_stats s = kw_memory_account_read(&device->memory);
  kw_error_drop_older(KW_ERR_OUT_OF_MEMORY); /* what the plugin said stays; that it said nothing is no news here */
  return kw_wrap(KW_ERR_OUT_OF_MEMORY,
                 "%s is out of memory: %" PRIu64 " bytes requested; held %" PRIu64 ", allocated %" PRIu64 " in %" PRIu64
                 " live tensors (peak %" PRIu64 "), total %" PRIu64 ", largest allocation %" PRIu64
                 " bytes; %s. Release tensors or use smaller ones",
                 device->name, requested, s.held, s.allocated, s.live, s.allocated_peak, device->info.total_memory,
                 device->info.max_alloc, tried);
}

/* After the plugin said that there is no memory: waits for pending blocks, gives back what is cached, tries again. */
static kw_status retry_after_flush(kw_stream *stream, kw_pool *pool, uint64_t size, bool large, kw_block **out_block) {
  kw_device *device = stream->device;
  struct kw_allocator *allocator = device->allocator;
  pthread_mutex_lock(&allocator->flushing);
  reclaim(device, true);
  kw_memory_count(&device->memory.oom_retries);
  pthread_mutex_lock(&allocator->mutex);
  kw_block_cache_empty(&allocator->cache);
  *out_block = kw_pool_take(pool, size, large);
  pthread_mutex_unlock(&allocator->mutex);
  kw_status status = KW_OK;
  if (*out_block == NULL) {
    free_idle_segments(device);
    status = grow(stream, pool, size, size, large, out_block);
  }
  pthread_mutex_unlock(&allocator->flushing);
  return status;
}

static kw_status find_block(kw_stream *stream, kw_pool *pool, uint64_t requested, kw_block **out_block) {
  kw_device *device = stream->device;
  struct kw_allocator *allocator = device->allocator;
  uint64_t limit = device->info.max_alloc;
  if (requested > limit || requested > UINT64_MAX - ROUNDING - allocator->granule) {
    kw_error_clear();
    return fail_out_of_memory(device, requested, "this is more than the device allocates at once");
  }
  bool large = requested >= KW_POOL_LARGE;
  uint64_t size = round_up(requested == 0 ? 1 : requested, allocator->granule);
  uint64_t segment_size = round_up(size, SEGMENT);
  if (size > limit) size = limit;
  if (segment_size > limit) segment_size = large || limit < size + allocator->granule ? size : limit;

  pthread_mutex_lock(&allocator->mutex);
  bool pending = allocator->pending != NULL;
  *out_block = kw_pool_take(pool, size, large);
  pthread_mutex_unlock(&allocator->mutex);
  if (*out_block == NULL) {
    if (pending) reclaim(device, false);
    pthread_mutex_lock(&allocator->mutex);
    kw_block_cache_empty(&allocator->cache);
    *out_block = kw_pool_take(pool, size, large);
    pthread_mutex_unlock(&allocator->mutex);
  }
  if (*out_block != NULL) return KW_OK;

  const char *tried = "caches were given back before the second try";
  kw_status status = grow(stream, pool, size, segment_size, large, out_block);
  if (status == KW_ERR_OUT_OF_MEMORY && kw_stream_in_callback()) {
    tried = "caches were kept, as a host function must not wait for streams";
  } else if (status == KW_ERR_OUT_OF_MEMORY) {
    status = retry_after_flush(stream, pool, size, large, out_block);
  }
  if (status == KW_OK) return KW_OK;
  if (status == KW_ERR_OUT_OF_MEMORY) return fail_out_of_memory(device, requested, tried);
  return kw_device_mark_if_lost(device,
                                kw_from_plugin(status, "allocating %" PRIu64 " bytes on %s", size, device->name));
}

/* ---- Buffers ---------------------------------------------------------------------------------------------------- */

/* Makes a buffer of a block that is taken and whose memory is described. */
static inline kw_buffer *begin_buffer(kw_block *block, uint64_t size) {
  kw_buffer *buffer = &block->buffer;
  kw_device *device = buffer->device;
  buffer->size = size;
  atomic_store_explicit(&buffer->refs, 1, memory_order_relaxed);
  atomic_store_explicit(&buffer->noted, 0, memory_order_relaxed);
  kw_memory_count_live(&device->memory, block->size);
  kw_device_retain(device);
  return buffer;
}

/* From the pool or the plugin. */
static __attribute__((noinline)) kw_status create(kw_stream *stream, kw_pool *pool, uint64_t size,
                                                  kw_buffer **out_buffer) {
  kw_device *device = stream->device;
  kw_status status = kw_device_check(device);
  if (status != KW_OK) return status;
  kw_block *block = NULL;
  status = find_block(stream, pool, size, &block);
  if (status != KW_OK) return status;
  kw_buffer *buffer = &block->buffer;
  buffer->mem = block->segment->mem;
  buffer->offset = block->offset;
  buffer->alignment = device->info.mem_alignment;
  buffer->device = device;
  buffer->graph = pool->graph;
  buffer->cached = pool->graph == 0;
  atomic_store(&buffer->graph_writes, false);
  atomic_store(&buffer->stream, stream);
  atomic_store(&buffer->cache_set, kw_block_cache_set(stream, block->size));
  *out_buffer = begin_buffer(block, size);
  return KW_OK;
}

static void put_in_pool(struct kw_allocator *allocator, kw_block *block) {
  pthread_mutex_lock(&allocator->mutex);
  kw_pool_put(block);
  pthread_mutex_unlock(&allocator->mutex);
}

static void put_away(struct kw_allocator *allocator, kw_block *block) {
  if (!kw_block_cache_put(&allocator->cache, block)) put_in_pool(allocator, block);
}

/* From the cache, if it has a block of just this size. `other` came out first: it may be one, or NULL. */
static __attribute__((noinline)) kw_status create_by_search(kw_stream *stream, uint64_t size, uint64_t rounded,
                                                            kw_block *other, kw_buffer **out_buffer) {
  struct kw_allocator *allocator = stream->device->allocator;
  _Atomic(kw_block *) *set = allocator->cache.sets[kw_block_cache_set(stream, rounded)];
  const bool lost = atomic_load(&stream->device->lost);
  if (other != NULL) put_away(allocator, other);
  for (uint32_t way = 0; way < KW_CACHE_WAYS && !lost; ++way) {
    kw_block *block = kw_block_cache_take(&set[way]);
    if (block != NULL && kw_block_serves(block, stream, rounded)) {
      *out_buffer = begin_buffer(block, size);
      return KW_OK;
    }
    if (block != NULL) put_away(allocator, block);
  }
  return create(stream, &stream->pool, size, out_buffer);
}

/* The sum that rounds up may wrap: no block has size 0. */
static inline kw_status create_on(kw_stream *stream, uint64_t size, kw_buffer **out_buffer) {
  struct kw_allocator *allocator = stream->device->allocator;
  const uint64_t rounded = (size + (size == 0) + allocator->granule - 1) & ~(allocator->granule - 1);
  kw_block *block = kw_block_cache_take(allocator->cache.sets[kw_block_cache_set(stream, rounded)]);
  if (__builtin_expect(block == NULL || !kw_block_serves(block, stream, rounded) || stream->device->lost, 0)) {
    return create_by_search(stream, size, rounded, block, out_buffer);
  }
  *out_buffer = begin_buffer(block, size);
  return KW_OK;
}

kw_status kw_buffer_create(kw_stream *stream, uint64_t size, kw_buffer **out_buffer) {
  return create_on(stream, size, out_buffer);
}

kw_status kw_buffer_create_for_call(kw_stream *stream, uint64_t size, kw_buffer **out_buffer) {
  kw_recording *recording = kw_stream_recording(stream);
  return recording != NULL ? create(stream, &recording->pool, size, out_buffer) : create_on(stream, size, out_buffer);
}

kw_status kw_buffer_on_import(kw_device *device, kw_import *import, kw_buffer **out_buffer) {
  kw_segment *segment = calloc(1, sizeof *segment);
  kw_block *block = calloc(1, sizeof *block);
  kw_foreign_use *use = calloc(1, sizeof *use);
  if (segment == NULL || block == NULL || use == NULL) {
    free(segment);
    free(block);
    free(use);
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for an import");
  }
  reclaim(device, false); /* earlier imports whose time has come */
  kw_stream *stream = device->default_stream;
  *segment = (kw_segment){.mem = import->mem, .size = import->size, .import = import, .first = block};
  *use = (kw_foreign_use){.token = stream->token}; /* no pool keeps the order of an import with its own stream */
  block->segment = segment;
  block->size = import->size;
  kw_buffer *buffer = &block->buffer;
  *buffer = (kw_buffer){.mem = import->mem,
                        .size = import->size,
                        .alignment = import->alignment,
                        .imported = !import->allocated,
                        .read_only = import->read_only,
                        .device = device,
                        .foreign = use};
  atomic_init(&buffer->refs, 1);
  atomic_init(&buffer->stream, stream);
  kw_device_retain(device);
  if (import->allocated) {
    kw_memory_count_live(&device->memory, block->size);
    kw_memory_rise(&device->memory.held, block->size);
  }
  *out_buffer = buffer;
  return KW_OK;
}

void kw_buffer_retain(kw_buffer *buffer) {
  atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
}

/* For as long as the graph lives, unless the buffer is of the graph's own pool: that orders itself. */
static void keep(kw_recording *recording, kw_buffer *buffer) {
  if (buffer->graph == recording->pool.graph) return;
  kw_buffer **kept = kw_array_grow(recording->kept, recording->kept_count, sizeof *kept);
  if (kept == NULL) {
    recording->incomplete = true;
    return;
  }
  kw_buffer_retain(buffer);
  recording->kept = kept;
  recording->kept[recording->kept_count++] = buffer;
}

/* Streams come and go while a buffer lives. Looking which of those that used it are gone costs as much as there are of
 * both: it is done whenever their number reaches a power of two. */
static bool is_time_to_forget(unsigned uses) {
  return uses >= 16 && (uses & (uses - 1)) == 0;
}

static bool is_use_of(const kw_foreign_use *use, const kw_stream *stream) {
  return use->token == stream->token || use->token == KW_ANY_STREAM;
}

/* Under the mutex. Without memory the buffer counts as used by every stream. */
static void note_use(kw_buffer *buffer, const kw_stream *stream) {
  kw_foreign_use *use = buffer->foreign;
  unsigned others = 0;
  for (; use != NULL && !is_use_of(use, stream); use = use->next) ++others;
  if (use == NULL) {
    if (is_time_to_forget(others)) drop_passed_uses(buffer->device, &buffer->foreign, false);
    use = calloc(1, sizeof *use);
    const uint64_t token = use != NULL ? stream->token : KW_ANY_STREAM;
    if (use == NULL) use = &kw_block_of(buffer)->any_use;
    *use = (kw_foreign_use){.token = token, .next = buffer->foreign};
    buffer->foreign = use;
  }
  atomic_store_explicit(&buffer->noted, stream->token, memory_order_relaxed);
}

void kw_buffer_use_foreign(kw_buffer *buffer, kw_stream *stream) {
  kw_recording *recording = kw_stream_recording(stream);
  if (recording != NULL) {
    keep(recording, buffer);
    return;
  }
  if (atomic_load(&buffer->stream) == stream) return; /* another thread has just begun to record */
  struct kw_allocator *allocator = buffer->device->allocator;
  pthread_mutex_lock(&allocator->mutex);
  note_use(buffer, stream);
  pthread_mutex_unlock(&allocator->mutex);
}

void kw_buffer_set_apart(kw_buffer *buffer, bool apart) {
  struct kw_allocator *allocator = buffer->device->allocator;
  pthread_mutex_lock(&allocator->mutex);
  kw_stream *own = kw_block_of(buffer)->segment->stream, *home = own != NULL ? own : buffer->device->default_stream;
  if (apart) note_use(buffer, home);
  atomic_store(&buffer->stream, apart ? NULL : home);
  pthread_mutex_unlock(&allocator->mutex);
}

bool kw_buffer_used_on(const kw_buffer *buffer, const kw_stream *stream) {
  struct kw_allocator *allocator = buffer->device->allocator;
  pthread_mutex_lock(&allocator->mutex);
  bool used = atomic_load(&buffer->stream) == stream;
  for (const kw_foreign_use *use = buffer->foreign; use != NULL && !used; use = use->next) {
    used = is_use_of(use, stream);
  }
  pthread_mutex_unlock(&allocator->mutex);
  return used;
}

/* Records an event on the stream of `use`, now that all its uses are enqueued. Without events it waits, or leaves that
 * to a later reclaim where waiting is not allowed. */
static void mark_use(kw_device *device, kw_foreign_use *use) {
  if (atomic_load(&device->lost)) return;
  kw_stream *stream = kw_stream_pin(use->token);
  if (stream == NULL) return;
  if ((device->plugin->native & KW_NATIVE_EVENTS) != 0) {
    const kw_event_info info = {.struct_size = sizeof info};
    kw_status status = KW_ASK(device->slots, event.create, device->handle, &info, &use->event);
    if (status == KW_OK) {
      status = KW_ASK(device->slots, event.record, device->handle, use->event, stream->handle);
      use->has_event = status == KW_OK;
      if (status != KW_OK) destroy_event(device, use->event);
    }
    if (status != KW_OK) {
      kw_device_mark_if_lost(device, kw_from_plugin(status, "marking the last use of memory on %s", device->name));
      kw_log(KW_LOG_WARN, "%s", kw_error_message());
    }
  }
  kw_stream_unpin(stream);
}

/* Of an import, of a graph's pool, or used by other streams. */
static __attribute__((noinline)) void release_with_care(kw_buffer *buffer) {
  kw_device *device = buffer->device;
  if (atomic_load(&buffer->constant) != 0) device->end_constant(buffer);
  struct kw_allocator *allocator = device->allocator;
  kw_foreign_use *uses = buffer->foreign; /* no other thread has the buffer any more */
  for (kw_foreign_use *use = uses; use != NULL; use = use->next) mark_use(device, use);
  kw_block *block = kw_block_of(buffer);
  kw_import *import = block->segment->import;
  bool native = (device->plugin->native & KW_NATIVE_EVENTS) != 0;
  if (uses != NULL && (!native || import != NULL)) {
    drop_passed_uses(device, &uses, !native && !kw_stream_in_callback());
  }
  buffer->foreign = NULL;
  if (import == NULL || import->allocated) kw_memory_count_released(&device->memory, block->size);
  if (uses == NULL && import == NULL) {
    put_in_pool(allocator, block);
  } else if (uses == NULL) {
    end_imports(device, block);
  } else {
    pthread_mutex_lock(&allocator->mutex);
    block->uses = uses;
    block->next_in = allocator->pending;
    allocator->pending = block;
    pthread_mutex_unlock(&allocator->mutex);
  }
  kw_device_release(device);
}

/* The cache has no room for it. */
static __attribute__((noinline)) void release_to_pool(kw_device *device, kw_block *block) {
  put_in_pool(device->allocator, block);
  kw_device_release(device);
}

void kw_buffer_release(kw_buffer *buffer) {
  if (buffer == NULL || atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1) return;
  if (!buffer->cached || buffer->foreign != NULL) {
    release_with_care(buffer);
    return;
  }
  kw_device *device = buffer->device;
  struct kw_allocator *allocator = device->allocator;
  kw_block *block = kw_block_of(buffer);
  kw_memory_count_released(&device->memory, block->size);
  if (kw_block_cache_put(&allocator->cache, block)) {
    kw_device_release(device);
  } else {
    release_to_pool(device, block);
  }
}

/* ---- Life, statistics ------------------------------------------------------------------------------------------- */

kw_status kw_allocator_create(kw_device *device) {
  struct kw_allocator *allocator = calloc(1, sizeof *allocator);
  if (allocator == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "opening %s: the host is out of memory.", device->name);
  pthread_mutex_init(&allocator->mutex, NULL);
  pthread_mutex_init(&allocator->flushing, NULL);
  pthread_cond_init(&allocator->reclaimed, NULL);
  allocator->granule =
      device->info.offset_alignment > KW_POOL_GRANULE ? device->info.offset_alignment : KW_POOL_GRANULE;
  device->allocator = allocator;
  memset(&device->memory, 0, sizeof device->memory);
  return KW_OK;
}

void kw_allocator_destroy(kw_device *device) {
  struct kw_allocator *allocator = device->allocator;
  if (allocator == NULL) return;
  reclaim(device, true);
  while (allocator->segments != NULL) {
    kw_segment *segment = allocator->segments;
    remove_segment(allocator, segment);
    free_segment(device, segment);
  }
  pthread_cond_destroy(&allocator->reclaimed);
  pthread_mutex_destroy(&allocator->flushing);
  pthread_mutex_destroy(&allocator->mutex);
  free(allocator);
  device->allocator = NULL;
}

void kw_allocator_forget_stream(kw_stream *stream) {
  kw_device *device = stream->device;
  struct kw_allocator *allocator = device->allocator;
  pthread_mutex_lock(&allocator->mutex);
  kw_block_cache_empty(&allocator->cache);
  for (kw_segment *segment = allocator->segments; segment != NULL; segment = segment->next) {
    if (segment->stream != stream) continue;
    segment->stream = device->default_stream;
    segment->token = device->default_stream->token;
    if (segment->pool == &stream->pool) kw_segment_move(segment, &device->default_stream->pool);
    for (kw_block *block = segment->first; block != NULL; block = block->next) {
      kw_stream *old = stream;
      atomic_compare_exchange_strong(&block->buffer.stream, &old, device->default_stream); /* a constant is of none */
      atomic_store(&block->buffer.cache_set, kw_block_cache_set(device->default_stream, block->size));
    }
  }
  pthread_mutex_unlock(&allocator->mutex);
}

void kw_allocator_forget_pool(kw_device *device, kw_pool *pool) {
  struct kw_allocator *allocator = device->allocator;
  pthread_mutex_lock(&allocator->mutex);
  for (kw_segment *segment = allocator->segments; segment != NULL; segment = segment->next) {
    if (segment->pool == pool) kw_segment_move(segment, &segment->stream->pool);
  }
  pthread_mutex_unlock(&allocator->mutex);
}

kw_status kw_memory_trim(kw_device *device) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_memory_trim: argument device is NULL.");
  kw_status status = kw_stream_may_wait("kw_memory_trim");
  if (status != KW_OK) return status;
  struct kw_allocator *allocator = device->allocator;
  pthread_mutex_lock(&allocator->flushing);
  reclaim(device, true);
  free_idle_segments(device);
  pthread_mutex_unlock(&allocator->flushing);
  return KW_OK;
}

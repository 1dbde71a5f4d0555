/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory: 256 MiB that only this device's copies and kernels touch. What the host gets is a handle,
 *
 *     63      48 47        16 15       0
 *     [ 0xac3e ] [generation] [  slot  ]
 *
 * which is no address that x86-64 or AArch64 can map, so a host that used it as a pointer would trap at once. The
 * generation counts up when a slot is freed: a stale handle is recognised, not resolved to another tensor's memory.
 */
#include "npu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HANDLE_TAG UINT64_C(0xac3e)
#define SLOT_COUNT 65536u /* allocations that can live at once: as many as a handle has numbers for */

_Static_assert(sizeof(uintptr_t) == 8, "handles use all 64 bits");

typedef struct slot {
  uint64_t offset; /* in the arena, bytes */
  uint8_t *host;   /* where it is instead, of an import; otherwise NULL */
  uint64_t size;   /* as asked for, bytes; 0 = not live */
  uint32_t generation;
} slot;

struct npu_arena {
  pthread_mutex_t lock; /* everything below, but not the bytes */
  uint8_t *bytes;
  slot slots[SLOT_COUNT];
  uint16_t by_offset[SLOT_COUNT]; /* the live slots in the order in which they lie in the arena */
  uint32_t live;
};

npu_arena *npu_arena_create(void) {
  npu_arena *arena = calloc(1, sizeof *arena);
  if (arena == NULL) {
    return NULL;
  }
  arena->bytes =
      mmap(NULL, NPU_MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena->bytes == MAP_FAILED) {
    free(arena);
    return NULL;
  }
  pthread_mutex_init(&arena->lock, NULL);
  return arena;
}

void npu_arena_destroy(npu_arena *arena) {
  if (arena == NULL) {
    return;
  }
  pthread_mutex_destroy(&arena->lock);
  munmap(arena->bytes, NPU_MEMORY_BYTES);
  free(arena);
}

static kw_mem handle_make(uint32_t index, uint32_t generation) {
  return (kw_mem)(uintptr_t)(HANDLE_TAG << 48 | (uint64_t)generation << 16 | index);
}

/* The live slot that a handle names, or NULL. Call with the lock held. */
static slot *handle_slot(npu_arena *arena, kw_mem mem) {
  uint64_t handle = (uintptr_t)mem;
  uint32_t index = handle & 0xffff;
  if (handle >> 48 != HANDLE_TAG || index >= SLOT_COUNT) {
    return NULL;
  }
  slot *candidate = &arena->slots[index];
  bool current = candidate->generation == (uint32_t)(handle >> 16);
  return current && candidate->size != 0 ? candidate : NULL;
}

void *npu_arena_resolve(npu_arena *arena, kw_mem mem, uint64_t offset, uint64_t size) {
  void *data = NULL;
  pthread_mutex_lock(&arena->lock);
  const slot *owner = handle_slot(arena, mem);
  if (owner != NULL && offset <= owner->size && size <= owner->size - offset) {
    data = (owner->host != NULL ? owner->host : arena->bytes + owner->offset) + offset;
  }
  pthread_mutex_unlock(&arena->lock);
  return data;
}

static uint64_t round_up(uint64_t size) {
  return (size + NPU_ALIGNMENT - 1) / NPU_ALIGNMENT * NPU_ALIGNMENT;
}

static uint32_t unused_slot(const npu_arena *arena) {
  uint32_t index = 0;
  while (index < SLOT_COUNT && arena->slots[index].size != 0) {
    ++index;
  }
  return index;
}

/* First fit: takes the lowest gap that is large enough. False when there is none. Call with the lock held. */
static bool take(npu_arena *arena, uint64_t size, kw_mem *out_mem) {
  uint32_t index = unused_slot(arena);
  if (index == SLOT_COUNT || size > NPU_MEMORY_BYTES) {
    return false;
  }
  uint64_t gap = 0; /* where the gap before by_offset[place] starts */
  uint32_t place = 0;
  for (; place < arena->live; ++place) {
    const slot *next = &arena->slots[arena->by_offset[place]];
    if (next->offset - gap >= round_up(size)) {
      break;
    }
    gap = next->offset + round_up(next->size);
  }
  if (NPU_MEMORY_BYTES - gap < round_up(size)) {
    return false;
  }
  memmove(&arena->by_offset[place + 1], &arena->by_offset[place], (arena->live - place) * sizeof arena->by_offset[0]);
  arena->by_offset[place] = (uint16_t)index;
  ++arena->live;
  arena->slots[index].host = NULL;
  arena->slots[index].offset = gap;
  arena->slots[index].size = size;
  *out_mem = handle_make(index, arena->slots[index].generation);
  return true;
}

/* False when the handle is not live. Call with the lock held. */
static bool give_back(npu_arena *arena, kw_mem mem) {
  slot *owner = handle_slot(arena, mem);
  if (owner == NULL || owner->host != NULL) {
    return false;
  }
  uint16_t index = (uint16_t)(owner - arena->slots);
  uint32_t place = 0;
  while (arena->by_offset[place] != index) {
    ++place;
  }
  --arena->live;
  memmove(&arena->by_offset[place], &arena->by_offset[place + 1], (arena->live - place) * sizeof arena->by_offset[0]);
  owner->size = 0;
  ++owner->generation;
  return true;
}

bool npu_arena_adopt(npu_arena *arena, void *host, uint64_t size, kw_mem *out_mem) {
  pthread_mutex_lock(&arena->lock);
  uint32_t index = unused_slot(arena);
  bool taken = index < SLOT_COUNT;
  if (taken) {
    arena->slots[index].host = host;
    arena->slots[index].size = size;
    *out_mem = handle_make(index, arena->slots[index].generation);
  }
  pthread_mutex_unlock(&arena->lock);
  return taken;
}

bool npu_arena_disown(npu_arena *arena, kw_mem mem) {
  pthread_mutex_lock(&arena->lock);
  slot *owner = handle_slot(arena, mem);
  bool known = owner != NULL && owner->host != NULL;
  if (known) {
    owner->size = 0;
    ++owner->generation;
  }
  pthread_mutex_unlock(&arena->lock);
  return known;
}

/* ---- The slots -------------------------------------------------------------------------------------------------- */

static kw_status npu_alloc(void *device_ptr, const kw_alloc_info *info, kw_mem *out_mem) {
  npu_device *device = device_ptr;
  kw_status status = npu_check_critical(device->host, 0, info->next);
  if (status != KW_OK) {
    return status;
  }
  if (info->kind > KW_MEM_HOST_VISIBLE || (info->flags & KW_FLAGS_CRITICAL) != 0) {
    return npu_fail(device->host, KW_ERR_UNSUPPORTED,
                    "alloc: kind %u, flags 0x%llx; this device has memory of its own, all of it host-visible, and "
                    "exports none",
                    (unsigned)info->kind, (unsigned long long)info->flags);
  }
  if (info->size == 0 || info->alignment > NPU_ALIGNMENT) {
    return npu_fail(device->host, KW_ERR_INVALID_ARGUMENT,
                    "alloc: size %llu, alignment %llu; this device wants a size of at least 1 and an alignment of at "
                    "most %u",
                    (unsigned long long)info->size, (unsigned long long)info->alignment, NPU_ALIGNMENT);
  }
  if (npu_order_due(&device->order, KW_FAULT_ALLOC)) {
    return npu_fail(device->host, KW_ERR_OUT_OF_MEMORY, "alloc: a test has ordered this one to fail");
  }
  pthread_mutex_lock(&device->arena->lock);
  bool taken = take(device->arena, info->size, out_mem);
  pthread_mutex_unlock(&device->arena->lock);
  if (!taken) {
    return npu_fail(device->host, KW_ERR_OUT_OF_MEMORY, "alloc: no %llu contiguous bytes free of the NPU's %llu",
                    (unsigned long long)info->size, (unsigned long long)NPU_MEMORY_BYTES);
  }
  return KW_OK;
}

static kw_status npu_free(void *device_ptr, kw_mem mem) {
  npu_device *device = device_ptr;
  pthread_mutex_lock(&device->arena->lock);
  bool known = give_back(device->arena, mem);
  pthread_mutex_unlock(&device->arena->lock);
  if (!known) {
    return npu_fail(device->host, KW_ERR_INVALID_ARGUMENT, "free: %p is not a live NPU allocation", mem);
  }
  return KW_OK;
}

/* Checks now, where the caller can be told, and copies later in stream order. A live handle's place never moves, so it
 * may be looked up here. */
static kw_status npu_copy(void *device_ptr, void *stream, const kw_copy_info *copy) {
  npu_device *device = device_ptr;
  void *destination = copy->dst_host;
  const void *source = copy->src_host;
  if (copy->kind != KW_COPY_DEVICE_TO_HOST) {
    destination = npu_arena_resolve(device->arena, copy->dst_mem, copy->dst_offset, copy->size);
  }
  if (copy->kind != KW_COPY_HOST_TO_DEVICE) {
    source = npu_arena_resolve(device->arena, copy->src_mem, copy->src_offset, copy->size);
  }
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE || destination == NULL || source == NULL) {
    return npu_fail(device->host, KW_ERR_INVALID_ARGUMENT,
                    "copy: kind %u of %llu bytes to %p+%llu from %p+%llu: a handle is not live, a range leaves its "
                    "allocation, or a host pointer is NULL",
                    (unsigned)copy->kind, (unsigned long long)copy->size, copy->dst_mem,
                    (unsigned long long)copy->dst_offset, copy->src_mem, (unsigned long long)copy->src_offset);
  }
  return npu_stream_enqueue_copy(stream, destination, source, copy->size);
}

/* The host's window to all of the arena (on a card: its largest BAR). The host has waited for work that wrote the
 * range, and both sides see each other's writes; a device behind a cache of its own would flush it here and drop it in
 * unmap. */
static kw_status npu_map(void *device_ptr, void *stream, const kw_map_info *info, void **out_pointer) {
  npu_device *device = device_ptr;
  (void)stream;
  if ((info->flags & KW_FLAGS_CRITICAL & ~(KW_MAP_READ | KW_MAP_WRITE)) != 0) {
    return npu_fail(device->host, KW_ERR_UNSUPPORTED, "map: flags 0x%llx; this device knows reading and writing",
                    (unsigned long long)info->flags);
  }
  void *data = npu_arena_resolve(device->arena, info->mem, info->offset, info->size);
  if (data == NULL) {
    return npu_fail(device->host, KW_ERR_INVALID_ARGUMENT,
                    "map: %llu bytes at %p+%llu: the handle is not live, or the range leaves its allocation",
                    (unsigned long long)info->size, info->mem, (unsigned long long)info->offset);
  }
  *out_pointer = data;
  return KW_OK;
}

static kw_status npu_unmap(void *device_ptr, void *stream, const kw_map_info *info, void *pointer) {
  (void)device_ptr;
  (void)stream;
  (void)info;
  (void)pointer;
  return KW_OK;
}

const kw_memory_api npu_memory_api = {
    .struct_size = sizeof(kw_memory_api),
    .alloc = npu_alloc,
    .dealloc = npu_free,
    .copy = npu_copy,
    .map = npu_map,
    .unmap = npu_unmap,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory group over a driver's functions.
 */
#include "kit/memory.h"

#include "lower/place.h"
#include "lower/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- Kinds and places -------------------------------------------------------------------------------------------- */

/* Device memory that others may have: in this process, too, they have it under another name. */
static bool is_shared(const kw_alloc_info *info) {
  return (info->flags & (KW_MEM_EXPORTABLE | KW_MEM_IPC)) != 0;
}

static kw_gpu_place place_of(const kw_gpu_device *device, const kw_alloc_info *info, kw_mem mem) {
  if (is_shared(info)) return (kw_gpu_place){.kind = KW_GPU_PLACE_SHARED};
  if (device->driver->map != kw_gpu_map_by_address) return (kw_gpu_place){.kind = KW_GPU_PLACE_OWN};
  return (kw_gpu_place){.kind = KW_GPU_PLACE_HOST, .host = (uintptr_t)mem}; /* the host may import a part of it */
}

static kw_status alloc_noted(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_gpu_memory *memory = malloc(sizeof *memory);
  if (!memory) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an allocation");
  kw_status status = device->driver->alloc(device, info, out_mem);
  if (status != KW_OK) {
    free(memory);
    return status;
  }
  *memory = (kw_gpu_memory){.mem = *out_mem, .kind = info->kind, .place = place_of(device, info, *out_mem)};
  kw_gpu_memory_note(device, memory);
  return KW_OK;
}

void kw_gpu_memory_finish(kw_gpu_device *device) {
  for (kw_gpu_memory *memory = device->memories, *next; memory; memory = next) {
    next = memory->next;
    free(memory);
  }
  device->memories = NULL;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status refuse_alloc(const kw_gpu_device *device, const kw_alloc_info *info, uint32_t kinds, uint64_t flags) {
  const char *key = device->driver->key;
  if (info->kind == KW_MEM_DEVICE && (info->flags & KW_FLAGS_CRITICAL & ~flags) == KW_MEM_IPC)
    return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED,
                        "memory for other processes by bytes (KW_MEM_IPC): %s has none%s", key,
                        flags & KW_MEM_EXPORTABLE ? "; pass it on by descriptor (KW_MEM_EXPORTABLE)" : "");
  return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED,
                      "memory of kind %u with flags 0x%llx: %s has the kinds 0x%x (one bit each), and of flags that "
                      "must be known 0x%llx",
                      (unsigned)info->kind, (unsigned long long)info->flags, key, kinds, (unsigned long long)flags);
}

static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_gpu_device *device = state;
  const uint32_t kinds = device->driver->mem_kinds | 1u << KW_MEM_DEVICE;
  const uint64_t flags = info->kind == KW_MEM_DEVICE ? device->driver->mem_flags : 0;
  kw_status status = kw_gpu_check_critical(device->host, 0, info->next);
  if (status != KW_OK) return status;
  if (info->kind >= 32 || (kinds >> info->kind & 1) == 0 || (info->flags & KW_FLAGS_CRITICAL & ~flags) != 0)
    return refuse_alloc(device, info, kinds, flags);
  return info->kind == KW_MEM_DEVICE && !is_shared(info) ? device->driver->alloc(device, info, out_mem)
                                                         : alloc_noted(device, info, out_mem);
}

/* What is known is forgotten first: once the driver has freed the memory, another thread may be given its address. */
static kw_status mem_free(void *state, kw_mem mem) {
  kw_gpu_device *device = state;
  kw_gpu_memory *memory = kw_gpu_memory_forget(device, mem, false);
  kw_status status = device->driver->dealloc(device, mem, memory ? memory->kind : KW_MEM_DEVICE);
  if (status != KW_OK && memory) {
    kw_gpu_memory_note(device, memory); /* it is still there */
  } else {
    free(memory);
  }
  return status;
}

static kw_status mem_map(void *state, void *stream, const kw_map_info *info, void **out_pointer) {
  kw_gpu_device *device = state;
  if ((info->flags & KW_FLAGS_CRITICAL & ~(KW_MAP_READ | KW_MAP_WRITE)) != 0)
    return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "a map with flags 0x%llx: %s knows reading and writing",
                        (unsigned long long)info->flags, device->driver->key);
  return device->driver->map(device, stream, info, out_pointer);
}

static kw_status mem_unmap(void *state, void *stream, const kw_map_info *info, void *pointer) {
  kw_gpu_device *device = state;
  return device->driver->unmap(device, stream, info, pointer);
}

static kw_status mem_copy(void *state, void *stream, const kw_copy_info *copy) {
  kw_gpu_device *device = state;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE)
    return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED,
                        "copy: kind %u: %s copies between host and device and within the device only",
                        (unsigned)copy->kind, device->driver->key);
  return device->driver->copy(device, stream, copy);
}

static kw_status mem_fill(void *state, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                          uint32_t pattern_size) {
  kw_gpu_command command = {.kind = KW_GPU_COMMAND_FILL,
                            .copy = {.dst_mem = mem, .dst_offset = offset, .size = size},
                            .pattern_size = pattern_size};
  memcpy(command.pattern, pattern, pattern_size);
  return kw_gpu_command_enqueue(&command, state, stream);
}

static kw_status mem_usage(void *state, uint64_t *out_free, uint64_t *out_total) {
  kw_gpu_device *device = state;
  return device->driver->usage(device, out_free, out_total);
}

static kw_status mem_alloc_host(void *state, uint64_t size, void **out_memory) {
  kw_gpu_device *device = state;
  return device->driver->alloc_host(device, size, out_memory);
}

static kw_status mem_free_host(void *state, void *memory) {
  kw_gpu_device *device = state;
  return device->driver->free_host(device, memory);
}

static kw_status mem_copy_peer(void *state, void *stream, void *src_device, const kw_copy_info *copy) {
  kw_gpu_device *device = state;
  return device->driver->copy_peer(device, stream, src_device, copy);
}

kw_memory_api kw_gpu_memory_slots(const kw_gpu_driver *driver) {
  return (kw_memory_api){
      .struct_size = sizeof(kw_memory_api),
      .alloc = mem_alloc,
      .dealloc = mem_free,
      .copy = mem_copy,
      .fill = driver->fill ? mem_fill : NULL,
      .usage = driver->usage ? mem_usage : NULL,
      .alloc_host = driver->alloc_host ? mem_alloc_host : NULL,
      .free_host = driver->free_host ? mem_free_host : NULL,
      .copy_peer = driver->copy_peer ? mem_copy_peer : NULL,
      .map = driver->map ? mem_map : NULL,
      .unmap = driver->unmap ? mem_unmap : NULL,
  };
}

/* ---- Copies by address ------------------------------------------------------------------------------------------- */

void *kw_gpu_copy_to(const kw_copy_info *copy) {
  return copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset;
}

const void *kw_gpu_copy_from(const kw_copy_info *copy) {
  return copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (const char *)copy->src_mem + copy->src_offset;
}

/* ---- Maps by address --------------------------------------------------------------------------------------------- */

kw_status kw_gpu_map_by_address(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info,
                                void **out_pointer) {
  (void)stream;
  if (kw_gpu_mem_kind(device, info->mem) == KW_MEM_DEVICE)
    return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "the host does not reach the device's own memory");
  *out_pointer = (char *)info->mem + info->offset;
  return KW_OK;
}

kw_status kw_gpu_unmap_by_address(kw_gpu_device *device, kw_gpu_stream *stream, const kw_map_info *info,
                                  void *pointer) {
  (void)device, (void)stream, (void)info, (void)pointer;
  return KW_OK;
}

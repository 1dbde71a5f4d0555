/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory group over a driver's functions.
 */
#include "kit/memory.h"

static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_gpu_device *device = state;
  if (kw_ext_check(info->next, NULL, 0) != KW_OK) return kw_gpu_refuse_extension(device->host);
  return device->driver->alloc(device, info, out_mem);
}

static kw_status mem_free(void *state, kw_mem mem) {
  kw_gpu_device *device = state;
  return device->driver->dealloc(device, mem);
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
  kw_gpu_device *device = state;
  return device->driver->fill(device, stream, mem, offset, size, pattern, pattern_size);
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
  };
}

/* ---- Copies by address ------------------------------------------------------------------------------------------- */

void *kw_gpu_copy_to(const kw_copy_info *copy) {
  return copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset;
}

const void *kw_gpu_copy_from(const kw_copy_info *copy) {
  return copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (const char *)copy->src_mem + copy->src_offset;
}

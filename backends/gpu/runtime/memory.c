/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: a kw_mem is the device's address.
 */
#include "runtime.h"

#include <string.h>

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

static kw_status out_of_memory(kw_rt_device *device, uint64_t size, int call, int error) {
  char what[300];
  size_t free = 0, total = 0;
  kw_rt_error_text(call, error, what, sizeof what);
  kw_rt.memory_info(&free, &total);
  return kw_gpu_error(device->base.host, KW_ERR_OUT_OF_MEMORY, "%s; %llu bytes were asked for, %zu of %zu are free",
                      what, (unsigned long long)size, free, total);
}

/* In the order of a stream of its own, where nothing ever waits: plain allocating and freeing waits for all streams. */
static int alloc_ordered(kw_rt_device *device, uint64_t size, kw_mem *out_mem, int *out_call) {
  kw_mem mem = NULL;
  *out_call = KW_RT_alloc_async;
  int error = kw_rt.alloc_async(&mem, size, device->memory_stream);
  if (error) return error;
  *out_call = KW_RT_stream_synchronize;
  error = kw_rt.stream_synchronize(device->memory_stream);
  if (error) {
    kw_rt.free_async(mem, device->memory_stream);
  } else {
    *out_mem = mem;
  }
  return error;
}

/* Under unified addressing, which every 64-bit process has, its address is the device's as well. */
static kw_status alloc_pinned(kw_rt_device *device, uint64_t size, void **out_memory) {
  void *before = runtime->enter(device);
  int error = kw_rt.host_alloc(out_memory, size, 1 | 2 /* for all contexts, with an address there */);
  kw_status status =
      error == 2 ? out_of_memory(device, size, KW_RT_host_alloc, error) : kw_rt_check(device, KW_RT_host_alloc, error);
  runtime->leave(before);
  return status;
}

static kw_status alloc_managed(kw_rt_device *device, uint64_t size, kw_mem *out_mem) {
  if (!device->managed) {
    return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                        "the host may not touch this device's managed memory while the device works");
  }
  void *before = runtime->enter(device);
  int error = kw_rt.managed_alloc(out_mem, size, 1 /* for all streams */);
  kw_status status = error == 2 ? out_of_memory(device, size, KW_RT_managed_alloc, error)
                                : kw_rt_check(device, KW_RT_managed_alloc, error);
  runtime->leave(before);
  return status;
}

kw_status kw_rt_alloc(kw_gpu_device *base, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_rt_device *device = (kw_rt_device *)base;
  if (info->kind == KW_MEM_HOST_PINNED) return alloc_pinned(device, info->size, out_mem);
  if (info->kind == KW_MEM_MANAGED) return alloc_managed(device, info->size, out_mem);
  if (info->flags & KW_MEM_IPC) return kw_rt_ipc_alloc(device, info, out_mem);
  if (info->flags & KW_MEM_EXPORTABLE) return kw_rt_share_alloc(device, info->size, out_mem);
  int error = 2 /* out of memory */, call = device->pools ? KW_RT_alloc_async : KW_RT_alloc;
  void *before = runtime->enter(device);
  if (info->size <= device->total_memory)
    error = device->pools ? alloc_ordered(device, info->size, out_mem, &call) : kw_rt.alloc(out_mem, info->size);
  kw_status status = error == 2 ? out_of_memory(device, info->size, call, error) : kw_rt_check(device, call, error);
  runtime->leave(before);
  return status;
}

kw_status kw_rt_free(kw_gpu_device *base, kw_mem mem, kw_mem_kind kind) {
  kw_rt_device *device = (kw_rt_device *)base;
  kw_status ended;
  const bool ordered = device->pools && kind == KW_MEM_DEVICE;
  if (kind == KW_MEM_HOST_PINNED) return kw_rt_free_host(base, mem);
  if (kw_rt_share_end(device, mem, &ended) || kw_rt_ipc_end(device, mem, &ended)) return ended;
  void *before = runtime->enter(device);
  int error = ordered ? kw_rt.free_async(mem, device->memory_stream) : kw_rt.free(mem);
  runtime->leave(before);
  return kw_rt_check(device, ordered ? KW_RT_free_async : KW_RT_free, error);
}

kw_status kw_rt_copy(kw_gpu_device *base, kw_gpu_stream *stream, const kw_copy_info *copy) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *to = kw_gpu_copy_to(copy);
  const void *from = kw_gpu_copy_from(copy);
  int error, call;
  void *before = runtime->enter(device);
  const kw_rt_span span = kw_rt_span_begin(stream);
  if (copy->kind == KW_COPY_HOST_TO_DEVICE) {
    call = KW_RT_copy_in;
    error = kw_rt.copy_in(to, from, copy->size, stream->handle);
  } else if (copy->kind == KW_COPY_DEVICE_TO_HOST) {
    call = KW_RT_copy_out;
    error = kw_rt.copy_out(to, from, copy->size, stream->handle);
  } else {
    call = KW_RT_copy;
    error = kw_rt.copy(to, from, copy->size, stream->handle);
  }
  kw_rt_span_end(&span, KW_ACTIVITY_COPY, kw_gpu_launching(), error);
  runtime->leave(before);
  return kw_rt_check(device, call, error);
}

/* A pattern of more than four bytes: once by words, then what is there is copied behind itself until all is. */
static int fill_long(char *to, uint64_t size, const void *pattern, uint32_t pattern_size, void *stream, int *out_call) {
  *out_call = KW_RT_set_32;
  for (uint32_t at = 0; at < pattern_size; at += 4) {
    uint32_t word;
    memcpy(&word, (const char *)pattern + at, sizeof word);
    int error = kw_rt.set_32(to + at, word, 1, stream);
    if (error) return error;
  }
  *out_call = KW_RT_copy;
  for (uint64_t done = pattern_size; done < size; done *= 2) {
    int error = kw_rt.copy(to + done, to, done < size - done ? done : size - done, stream);
    if (error) return error;
  }
  return 0;
}

kw_status kw_rt_fill(kw_gpu_device *base, kw_gpu_stream *on, kw_mem mem, uint64_t offset, uint64_t size,
                     const void *pattern, uint32_t pattern_size) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *stream = on->handle;
  char *to = (char *)mem + offset;
  uint32_t word = 0;
  int error, call;
  void *before = runtime->enter(device);
  const kw_rt_span span = kw_rt_span_begin(on);
  if (pattern_size <= 4) memcpy(&word, pattern, pattern_size);
  switch (pattern_size) {
    case 1:
      call = KW_RT_set_8;
      error = kw_rt.set_8(to, (uint8_t)word, size, stream);
      break;
    case 2:
      call = KW_RT_set_16;
      error = kw_rt.set_16(to, (uint16_t)word, size / 2, stream);
      break;
    case 4:
      call = KW_RT_set_32;
      error = kw_rt.set_32(to, word, size / 4, stream);
      break;
    default:
      error = fill_long(to, size, pattern, pattern_size, stream, &call);
  }
  kw_rt_span_end(&span, KW_ACTIVITY_FILL, kw_gpu_launching(), error);
  runtime->leave(before);
  return kw_rt_check(device, call, error);
}

kw_status kw_rt_usage(kw_gpu_device *base, uint64_t *out_free, uint64_t *out_total) {
  kw_rt_device *device = (kw_rt_device *)base;
  size_t free = 0, total = 0;
  void *before = runtime->enter(device);
  int error = kw_rt.memory_info(&free, &total);
  runtime->leave(before);
  if (error) return kw_rt_check(device, KW_RT_memory_info, error);
  *out_free = free;
  *out_total = total;
  return KW_OK;
}

kw_status kw_rt_alloc_host(kw_gpu_device *base, uint64_t size, void **out_memory) {
  return alloc_pinned((kw_rt_device *)base, size, out_memory);
}

kw_status kw_rt_free_host(kw_gpu_device *base, void *memory) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *before = runtime->enter(device);
  int error = kw_rt.host_free(memory);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_host_free, error);
}

kw_status kw_rt_copy_peer(kw_gpu_device *base, kw_gpu_stream *stream, kw_gpu_device *src_device,
                          const kw_copy_info *copy) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *before = runtime->enter(device);
  const kw_rt_span span = kw_rt_span_begin(stream);
  int error = runtime->copy_peer(device, kw_gpu_copy_to(copy), (const kw_rt_device *)src_device, kw_gpu_copy_from(copy),
                                 copy->size, stream->handle);
  kw_rt_span_end(&span, KW_ACTIVITY_COPY, 0, error);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_CALL_COUNT + KW_RT_OWN_COPY_PEER, error);
}

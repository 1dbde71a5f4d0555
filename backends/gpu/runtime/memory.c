/* SPDX-License-Identifier: Apache-2.0
 *
 * A kw_mem is the device's address.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

static const kw_rt_runtime *const here = &kw_rt_runtime_here;

static kw_status out_of_memory(kw_rt_device *device, uint64_t size, int call, int error) {
  const kw_host_api *host = device->base.host;
  char what[300], text[400];
  size_t free = 0, total = 0;
  kw_rt_describe(call, error, what, sizeof what);
  kw_rt.memory_info(&free, &total);
  snprintf(text, sizeof text, "%s; %llu bytes were asked for, %zu of %zu are free", what, (unsigned long long)size,
           free, total);
  return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, text);
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

static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_rt_device *device = state;
  int error = 2 /* out of memory */, call = device->pools ? KW_RT_alloc_async : KW_RT_alloc;
  void *before = here->enter(device);
  if (info->size <= device->total_memory)
    error = device->pools ? alloc_ordered(device, info->size, out_mem, &call) : kw_rt.alloc(out_mem, info->size);
  kw_status status = error == 2 ? out_of_memory(device, info->size, call, error) : kw_rt_check(device, call, error);
  here->leave(before);
  return status;
}

static kw_status mem_free(void *state, kw_mem mem) {
  kw_rt_device *device = state;
  void *before = here->enter(device);
  int error = device->pools ? kw_rt.free_async(mem, device->memory_stream) : kw_rt.free(mem);
  here->leave(before);
  return kw_rt_check(device, device->pools ? KW_RT_free_async : KW_RT_free, error);
}

static kw_status mem_copy(void *state, void *handle, const kw_copy_info *copy) {
  kw_rt_device *device = state;
  void *stream = ((kw_rt_stream *)handle)->handle;
  char *to = (char *)copy->dst_mem + copy->dst_offset;
  const char *from = (const char *)copy->src_mem + copy->src_offset;
  int error, call;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE)
    return device->base.host->set_error(device->base.host->ctx, KW_ERR_UNSUPPORTED,
                                        "copies go between host and device and within the device only");
  void *before = here->enter(device);
  if (copy->kind == KW_COPY_HOST_TO_DEVICE) {
    call = KW_RT_copy_in;
    error = kw_rt.copy_in(to, copy->src_host, copy->size, stream);
  } else if (copy->kind == KW_COPY_DEVICE_TO_HOST) {
    call = KW_RT_copy_out;
    error = kw_rt.copy_out(copy->dst_host, from, copy->size, stream);
  } else {
    call = KW_RT_copy;
    error = kw_rt.copy(to, from, copy->size, stream);
  }
  here->leave(before);
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

static kw_status mem_fill(void *state, void *handle, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                          uint32_t pattern_size) {
  kw_rt_device *device = state;
  void *stream = ((kw_rt_stream *)handle)->handle;
  char *to = (char *)mem + offset;
  uint32_t word = 0;
  int error, call;
  void *before = here->enter(device);
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
  here->leave(before);
  return kw_rt_check(device, call, error);
}

static kw_status mem_usage(void *state, uint64_t *out_free, uint64_t *out_total) {
  kw_rt_device *device = state;
  size_t free = 0, total = 0;
  void *before = here->enter(device);
  int error = kw_rt.memory_info(&free, &total);
  here->leave(before);
  if (error) return kw_rt_check(device, KW_RT_memory_info, error);
  *out_free = free;
  *out_total = total;
  return KW_OK;
}

static kw_status mem_alloc_host(void *state, uint64_t size, void **out_memory) {
  kw_rt_device *device = state;
  void *before = here->enter(device);
  int error = kw_rt.host_alloc(out_memory, size, 1 /* for all contexts */);
  kw_status status =
      error == 2 ? out_of_memory(device, size, KW_RT_host_alloc, error) : kw_rt_check(device, KW_RT_host_alloc, error);
  here->leave(before);
  return status;
}

static kw_status mem_free_host(void *state, void *memory) {
  kw_rt_device *device = state;
  void *before = here->enter(device);
  int error = kw_rt.host_free(memory);
  here->leave(before);
  return kw_rt_check(device, KW_RT_host_free, error);
}

static kw_status mem_copy_peer(void *state, void *handle, void *src_device, const kw_copy_info *copy) {
  kw_rt_device *device = state;
  void *stream = ((kw_rt_stream *)handle)->handle;
  void *before = here->enter(device);
  int error = here->copy_peer(device, (char *)copy->dst_mem + copy->dst_offset, src_device,
                              (const char *)copy->src_mem + copy->src_offset, copy->size, stream);
  here->leave(before);
  return kw_rt_check(device, KW_RT_CALL_COUNT + KW_RT_OWN_COPY_PEER, error);
}

const kw_memory_api kw_rt_memory_api = {
    .struct_size = sizeof kw_rt_memory_api,
    .alloc = mem_alloc,
    .free = mem_free,
    .copy = mem_copy,
    .fill = mem_fill,
    .usage = mem_usage,
    .alloc_host = mem_alloc_host,
    .free_host = mem_free_host,
    .copy_peer = mem_copy_peer,
};

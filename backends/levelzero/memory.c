/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: a kw_mem is the device pointer itself.
 */
#include "levelzero.h"

#include <stdio.h>

static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  const lz_device *device = state;
  const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  char what[64];
  ze_result_t result = ze.MemAllocDevice(device->context, &desc, info->size, info->alignment, device->id, out_mem);
  if (result != ZE_RESULT_SUCCESS) *out_mem = NULL;
  snprintf(what, sizeof what, "zeMemAllocDevice of %llu bytes", (unsigned long long)info->size);
  return lz_check(device, result, what);
}

static kw_status mem_free(void *state, kw_mem mem) {
  const lz_device *device = state;
  return lz_check(device, ze.MemFree(device->context, mem), "zeMemFree");
}

static kw_status mem_copy(void *state, void *stream, const kw_copy_info *copy) {
  const lz_device *device = state;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE)
    return device->base.host->set_error(device->base.host->ctx, KW_ERR_UNSUPPORTED,
                                        "Level Zero copies between host and device and within the device only");
  void *to = copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset;
  const void *from =
      copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (const char *)copy->src_mem + copy->src_offset;
  lz_command command = lz_stream_begin(stream, NULL);
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendMemoryCopy(command.list, to, from, copy->size, command.signal,
                                                    command.wait_count, command.waits);
  return lz_stream_end(stream, &command, 0, "zeCommandListAppendMemoryCopy");
}

static kw_status mem_fill(void *state, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                          uint32_t pattern_size) {
  (void)state;
  lz_command command = lz_stream_begin(stream, NULL);
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendMemoryFill(command.list, (char *)mem + offset, pattern, pattern_size, size,
                                                    command.signal, command.wait_count, command.waits);
  return lz_stream_end(stream, &command, 0, "zeCommandListAppendMemoryFill");
}

static kw_status mem_alloc_host(void *state, uint64_t size, void **out_memory) {
  const lz_device *device = state;
  const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  char what[64];
  ze_result_t result = ze.MemAllocHost(device->context, &desc, size, 64, out_memory);
  snprintf(what, sizeof what, "zeMemAllocHost of %llu bytes", (unsigned long long)size);
  return lz_check(device, result, what);
}

const kw_memory_api lz_memory_api = {
    .struct_size = sizeof lz_memory_api,
    .alloc = mem_alloc,
    .free = mem_free,
    .copy = mem_copy,
    .fill = mem_fill,
    .alloc_host = mem_alloc_host,
    .free_host = mem_free,
};

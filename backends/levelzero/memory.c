/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: a kw_mem is the device pointer itself.
 */
#include "levelzero.h"

#include <stdio.h>

kw_status lz_alloc(kw_gpu_device *base, const kw_alloc_info *info, kw_mem *out_mem) {
  const lz_device *device = (const lz_device *)base;
  const bool exportable = (info->flags & KW_MEM_EXPORTABLE) != 0;
  const ze_external_memory_export_desc_t export = {
      .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
      .flags = exportable ? lz_external_memory(device).memoryAllocationExportTypes & LZ_DESCRIPTORS : 0};
  const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                           .pNext = exportable ? &export : NULL};
  const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  const char *call = "zeMemAllocDevice";
  char what[64];
  ze_result_t result;
  if (exportable && export.flags == 0)
    return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED, "this driver gives memory by no kind of descriptor");
  if (info->kind == KW_MEM_HOST_PINNED) {
    call = "zeMemAllocHost";
    result = ze.MemAllocHost(device->context, &host, info->size, info->alignment, out_mem);
  } else if (info->kind == KW_MEM_MANAGED) {
    call = "zeMemAllocShared";
    result = ze.MemAllocShared(device->context, &desc, &host, info->size, info->alignment, device->id, out_mem);
  } else {
    result = ze.MemAllocDevice(device->context, &desc, info->size, info->alignment, device->id, out_mem);
  }
  if (result != ZE_RESULT_SUCCESS) *out_mem = NULL;
  snprintf(what, sizeof what, "%s of %llu bytes", call, (unsigned long long)info->size);
  return lz_check(device, result, what);
}

kw_status lz_free(kw_gpu_device *base, kw_mem mem, kw_mem_kind kind) {
  const lz_device *device = (const lz_device *)base;
  (void)kind; /* one call frees all */
  return lz_check(device, ze.MemFree(device->context, mem), "zeMemFree");
}

kw_status lz_copy(kw_gpu_device *device, kw_gpu_stream *base, const kw_copy_info *copy) {
  lz_stream *stream = (lz_stream *)base;
  (void)device;
  lz_command command = lz_stream_begin(stream, NULL);
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendMemoryCopy(command.list, kw_gpu_copy_to(copy), kw_gpu_copy_from(copy),
                                                    copy->size, command.signal, command.wait_count, command.waits);
  lz_activity_note(stream, &command, KW_ACTIVITY_COPY, kw_gpu_launching());
  return lz_stream_end(stream, &command, 0, "zeCommandListAppendMemoryCopy");
}

kw_status lz_fill(kw_gpu_device *device, kw_gpu_stream *base, kw_mem mem, uint64_t offset, uint64_t size,
                  const void *pattern, uint32_t pattern_size) {
  lz_stream *stream = (lz_stream *)base;
  (void)device;
  lz_command command = lz_stream_begin(stream, NULL);
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendMemoryFill(command.list, (char *)mem + offset, pattern, pattern_size, size,
                                                    command.signal, command.wait_count, command.waits);
  lz_activity_note(stream, &command, KW_ACTIVITY_FILL, kw_gpu_launching());
  return lz_stream_end(stream, &command, 0, "zeCommandListAppendMemoryFill");
}

kw_status lz_alloc_host(kw_gpu_device *base, uint64_t size, void **out_memory) {
  const lz_device *device = (const lz_device *)base;
  const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  char what[64];
  ze_result_t result = ze.MemAllocHost(device->context, &desc, size, 64, out_memory);
  snprintf(what, sizeof what, "zeMemAllocHost of %llu bytes", (unsigned long long)size);
  return lz_check(device, result, what);
}

kw_status lz_free_host(kw_gpu_device *device, void *memory) {
  return lz_free(device, memory, KW_MEM_HOST_PINNED);
}

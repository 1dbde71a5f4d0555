/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others: host pages that the driver takes for its own, by an extension of Intel's driver, and descriptors;
 * memory for others by descriptor; and what objects are called in Level Zero.
 */
#include "levelzero.h"

#include <unistd.h>

#define DL_CPU 1 /* kDLCPU; the numbers of DLPack's kDLOneAPI are SYCL's, not Level Zero's */

kw_status lz_host_register(kw_gpu_device *base, void *begin, uint64_t size, bool read_only) {
  const lz_device *device = (const lz_device *)base;
  ze_result_t (*import_pages)(ze_driver_handle_t, void *, size_t) = NULL;
  char text[2400];
  (void)read_only; /* the host bars writing */
  if (!lz_find_extension(device->driver, "zexDriverImportExternalPointer", &import_pages))
    return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED,
                        "host memory: this driver has no zexDriverImportExternalPointer");
  ze_result_t result = import_pages(device->driver, begin, size);
  const kw_status status = lz_result_status(result);
  if (status != KW_ERR_INTERNAL) return lz_check(device, result, "zexDriverImportExternalPointer");
  lz_explain(device->driver, result, "zexDriverImportExternalPointer", text, sizeof text); /* pages it does not take */
  return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED, "%s", text);
}

kw_status lz_host_unregister(kw_gpu_device *base, void *begin) {
  const lz_device *device = (const lz_device *)base;
  ze_result_t (*release_pages)(ze_driver_handle_t, void *) = NULL;
  if (!lz_find_extension(device->driver, "zexDriverReleaseImportedPointer", &release_pages))
    return kw_gpu_error(base->host, KW_ERR_INTERNAL, "this driver has no zexDriverReleaseImportedPointer");
  return lz_check(device, release_pages(device->driver, begin), "zexDriverReleaseImportedPointer");
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

ze_device_external_memory_properties_t lz_external_memory(const lz_device *device) {
  ze_device_external_memory_properties_t facts = {.stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
  ze.DeviceGetExternalMemoryProperties(device->id, &facts);
  return facts;
}

/* 0: none of those that the driver has. */
static ze_external_memory_type_flags_t type_of(kw_handle_kind kind, ze_external_memory_type_flags_t types) {
  return types & (kind == KW_HANDLE_FD       ? ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD
                  : kind == KW_HANDLE_DMABUF ? ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF
                                             : 0);
}

static kw_status fail_kind(const lz_device *device, kw_handle_kind kind) {
  return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED, "memory of kind %u: this driver has none of that kind",
                      (unsigned)kind);
}

/* The driver keeps a reference of its own to what the descriptor names. */
kw_status lz_import(kw_gpu_device *base, const kw_external_memory *info, kw_mem *out_mem) {
  const lz_device *device = (const lz_device *)base;
  ze_external_memory_import_fd_t import = {
      .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
      .flags = type_of(info->kind, lz_external_memory(device).memoryAllocationImportTypes),
      .fd = info->handle <= INT32_MAX ? (int)info->handle : -1};
  const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = &import};
  void *begin = NULL;
  char text[2400];
  if (import.flags == 0) return fail_kind(device, info->kind);
  const off_t end = lseek(import.fd, 0, SEEK_END); /* descriptors of other than files and dma-bufs have none */
  if (info->offset > INT64_MAX - info->size || (end >= 0 && (uint64_t)end < info->offset + info->size))
    return kw_gpu_error(base->host, KW_ERR_INVALID_ARGUMENT, "a range past the end of descriptor %d", import.fd);
  ze_result_t result = ze.MemAllocDevice(device->context, &desc, info->offset + info->size, 0, device->id, &begin);
  if (result == ZE_RESULT_SUCCESS) {
    *out_mem = (char *)begin + info->offset;
    return KW_OK;
  }
  if (lz_result_status(result) != KW_ERR_INTERNAL) return lz_check(device, result, "zeMemAllocDevice, an import");
  lz_explain(device->driver, result, "zeMemAllocDevice, an import", text, sizeof text);
  return kw_gpu_error(base->host, KW_ERR_INVALID_ARGUMENT, "%s", text);
}

kw_status lz_import_end(kw_gpu_device *base, kw_mem mem) {
  const lz_device *device = (const lz_device *)base;
  void *begin = NULL;
  kw_status status =
      lz_check(device, ze.MemGetAddressRange(device->context, mem, &begin, NULL), "zeMemGetAddressRange");
  return status == KW_OK ? lz_check(device, ze.MemFree(device->context, begin), "zeMemFree") : status;
}

kw_status lz_export(kw_gpu_device *base, kw_mem mem, kw_external_memory *inout_info) {
  const lz_device *device = (const lz_device *)base;
  ze_external_memory_export_fd_t export = {
      .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
      .flags = type_of(inout_info->kind, lz_external_memory(device).memoryAllocationExportTypes),
      .fd = -1};
  ze_memory_allocation_properties_t facts = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &export};
  if (export.flags == 0) return fail_kind(device, inout_info->kind);
  kw_status status = lz_check(device, ze.MemGetAllocProperties(device->context, mem, &facts, NULL),
                              "zeMemGetAllocProperties, an export");
  if (status == KW_OK) inout_info->handle = (uint64_t) export.fd;
  return status;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

kw_status lz_native_handle(kw_gpu_device *base, kw_object_kind kind, void *object, bool imported,
                           kw_native_handle *out_handle) {
  const lz_device *device = (const lz_device *)base;
  if (imported) out_handle->dl_device_type = DL_CPU;
  out_handle->handle = kind == KW_OBJECT_STREAM   ? (void *)((const lz_stream *)object)->list
                       : kind == KW_OBJECT_DEVICE ? (void *)device->id
                                                  : object;
  return KW_OK;
}

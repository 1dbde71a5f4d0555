/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others: host pages that the driver takes for its own, by an extension of Intel's driver, and what objects
 * are called in Level Zero.
 */
#include "levelzero.h"

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

kw_status lz_native_handle(kw_gpu_device *base, kw_object_kind kind, void *object, bool imported,
                           kw_native_handle *out_handle) {
  const lz_device *device = (const lz_device *)base;
  if (imported) out_handle->dl_device_type = DL_CPU;
  out_handle->handle = kind == KW_OBJECT_STREAM   ? (void *)((const lz_stream *)object)->list
                       : kind == KW_OBJECT_DEVICE ? (void *)device->id
                                                  : object;
  return KW_OK;
}

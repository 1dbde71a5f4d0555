/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others: host pages that the device reaches, and what objects are called in CUDA and HIP.
 */
#include "runtime.h"

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

enum { PORTABLE = 1, MAPPED = 2, READ_ONLY = 8 };
enum { NOT_SUPPORTED = 801 };

kw_status kw_rt_host_register(kw_gpu_device *base, void *begin, uint64_t size, bool read_only) {
  kw_rt_device *device = (kw_rt_device *)base;
  char text[300];
  void *before = runtime->enter(device);
  int error = kw_rt.host_register(begin, size, PORTABLE | MAPPED | (read_only ? READ_ONLY : 0));
  /* A device may lack pages that it must not write, and reach others: the host bars writing, too. */
  if (read_only && error == NOT_SUPPORTED) error = kw_rt.host_register(begin, size, PORTABLE | MAPPED);
  runtime->leave(before);
  const kw_status status = kw_rt_status(error);
  if (status != KW_ERR_INTERNAL) return kw_rt_check(device, KW_RT_host_register, error);
  kw_rt_error_text(KW_RT_host_register, error, text, sizeof text); /* pages that it does not take */
  return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED, "%s", text);
}

kw_status kw_rt_host_unregister(kw_gpu_device *base, void *begin) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *before = runtime->enter(device);
  int error = kw_rt.host_unregister(begin);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_host_unregister, error);
}

kw_status kw_rt_host_address(kw_gpu_device *base, void *begin, void **out_there) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *before = runtime->enter(device);
  int error = kw_rt.host_address(out_there, begin, 0);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_host_address, error);
}

kw_status kw_rt_native_handle(kw_gpu_device *base, kw_object_kind kind, void *object, bool imported,
                              kw_native_handle *out_handle) {
  const kw_rt_device *device = (const kw_rt_device *)base;
  out_handle->dl_device_type = imported ? runtime->dl_host : runtime->dl_device;
  out_handle->dl_device_id = device->id;
  out_handle->handle = kind == KW_OBJECT_STREAM   ? ((const kw_gpu_stream *)object)->handle
                       : kind == KW_OBJECT_DEVICE ? (void *)(intptr_t)device->id
                                                  : object;
  return KW_OK;
}

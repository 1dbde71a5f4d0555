/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries of the vendor's: opened when a kernel first asks for one, with a handle for each device.
 */
#include "vendor_library.h"

#include <stdio.h>

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static kw_status answer(const kw_rt_library *library, const kw_call *call, kw_status status, const char *doing,
                        int error) {
  const kw_host_api *host = ((const kw_rt_device *)call->device)->base.host;
  char text[300], number[20];
  snprintf(number, sizeof number, "error %d", error);
  snprintf(text, sizeof text, "%s, %s: %s", library->name, doing,
           library->error_text ? (*library->error_text)(error) : number);
  return host->set_error(host->ctx, status, text);
}

kw_status kw_rt_library_fail(const kw_rt_library *library, const kw_call *call, const char *doing, int error) {
  return answer(library, call, KW_ERR_INTERNAL, doing, error);
}

kw_status kw_rt_library_refuse(const kw_rt_library *library, const kw_call *call, const char *why) {
  const kw_host_api *host = ((const kw_rt_device *)call->device)->base.host;
  char text[200];
  snprintf(text, sizeof text, "%s %s", library->name, why);
  return host->set_error(host->ctx, KW_ERR_NOT_IMPLEMENTED, text);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static bool open_once(kw_rt_library *library) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!library->tried) {
    void *opened = kw_rt_load(library->files);
    library->there = opened && !kw_rt_find_calls(opened, library->calls);
    library->tried = true;
  }
  const bool there = library->there;
  pthread_mutex_unlock(&lock);
  return there;
}

/* They look for the driver by themselves, and find more wanting in a test driver than they can bear. */
kw_status kw_rt_library_find(kw_rt_library *library, const kw_call *call) {
  const kw_rt_device *device = call->device;
  char name[64] = "";
  kw_rt.device_name(name, sizeof name, device->id);
  if (kw_gpu_device_flags(name) & KW_DEVICE_EMULATED)
    return kw_rt_library_refuse(library, call, "is for hardware, and the device is emulated");
  return open_once(library) ? KW_OK : kw_rt_library_refuse(library, call, "is not installed, or is too old");
}

kw_status kw_rt_library_handle(const kw_rt_library *library, const kw_call *call, void **out_handle) {
  kw_rt_device *device = call->device;
  int error = 0;
  uint32_t i = 0;
  pthread_mutex_lock(&device->base.lock);
  while (device->handles[i].library && device->handles[i].library != library) ++i;
  if (!device->handles[i].library) {
    void *before = kw_rt_backend_runtime.enter(device);
    error = (*library->create)(&device->handles[i].handle);
    kw_rt_backend_runtime.leave(before);
    if (!error) device->handles[i].library = library;
  }
  *out_handle = device->handles[i].handle;
  pthread_mutex_unlock(&device->base.lock);
  return error ? answer(library, call, KW_ERR_NOT_IMPLEMENTED, "starting", error) : KW_OK;
}

void kw_rt_close_handles(kw_rt_device *device) {
  for (uint32_t i = 0; i < KW_RT_LIBRARY_LIMIT; ++i)
    if (device->handles[i].library) (*device->handles[i].library->destroy)(device->handles[i].handle);
}

kw_status kw_rt_library_register(const kw_host_api *host, kw_kernel_desc kernel) {
  kernel.struct_size = sizeof kernel;
  kernel.flags |= KW_KERNEL_CAPTURABLE;
  kernel.priority = KW_PRIORITY_OFF;
  kw_status status = host->register_kernel(host->ctx, &kernel);
  return status == KW_ERR_NOT_FOUND ? KW_OK : status;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

void *kw_rt_address(const kw_tensor_ref *tensor) {
  return tensor->mem ? (char *)tensor->mem + tensor->offset : NULL;
}

void *kw_rt_workspace(const kw_call *call) {
  const uintptr_t begin = (uintptr_t)call->workspace + call->workspace_offset;
  return (void *)((begin + KW_RT_WORKSPACE_ALIGNMENT - 1) / KW_RT_WORKSPACE_ALIGNMENT * KW_RT_WORKSPACE_ALIGNMENT);
}

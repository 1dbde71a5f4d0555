/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others: the process's own memory is the device's, so an import is a pointer.
 */
#include "cpu.h"

#define DL_CPU 1 /* kDLCPU */

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_cpu_device *cpu = device;
  if (info->kind != KW_HANDLE_HOST || info->flags >> 32 & ~(KW_EXTERNAL_READ_ONLY >> 32)) {
    return kw_cpu_error(cpu->host, KW_ERR_UNSUPPORTED,
                        "memory of kind %u with flags 0x%llx: the cpu takes host memory, read-only or not", info->kind,
                        (unsigned long long)info->flags);
  }
  const uintptr_t lowest_bit = (uintptr_t)info->host & (~(uintptr_t)info->host + 1);
  *out_mem = info->host;
  *out_alignment = (uint32_t)(lowest_bit < 4096 ? lowest_bit : 4096);
  return KW_OK;
}

static kw_status release_memory(void *device, kw_mem mem) {
  (void)device;
  (void)mem;
  return KW_OK;
}

static kw_status native_handle(void *device, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  kw_cpu_device *cpu = device;
  if (kind != KW_OBJECT_MEMORY) {
    return kw_cpu_error(cpu->host, KW_ERR_UNSUPPORTED, "object of kind %u: the cpu has no runtime that names it", kind);
  }
  out_handle->dl_device_type = DL_CPU;
  out_handle->dl_device_id = 0;
  out_handle->handle = object;
  return KW_OK;
}

const kw_interop_api kw_cpu_interop_api = {
    .struct_size = sizeof(kw_interop_api),
    .import_memory = import_memory,
    .release_memory = release_memory,
    .native_handle = native_handle,
};

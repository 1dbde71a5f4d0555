/* SPDX-License-Identifier: Apache-2.0
 *
 * Group keyway.interop/1: the host's own memory, which the device reaches over the bus, as an argument where it lies,
 * and what we call our objects. Leave it out, and its group, and the host copies instead.
 */
#include "npu.h"

static kw_status npu_import_memory(void *device_ptr, const kw_external_memory *info, kw_mem *out_mem,
                                   uint32_t *out_alignment) {
  npu_device *device = device_ptr;
  if (info->kind != KW_HANDLE_HOST || (info->flags & KW_FLAGS_CRITICAL & ~KW_EXTERNAL_READ_ONLY) != 0) {
    return npu_fail(device->host, KW_ERR_UNSUPPORTED,
                    "import: memory of kind %u with flags 0x%llx; the NPU reaches host memory, read-only or not",
                    (unsigned)info->kind, (unsigned long long)info->flags);
  }
  if (!npu_arena_adopt(device->arena, info->host, info->size, out_mem)) {
    return npu_fail(device->host, KW_ERR_OUT_OF_MEMORY, "import: no handle left");
  }
  uint32_t alignment = NPU_ALIGNMENT;
  while ((uintptr_t)info->host % alignment != 0) {
    alignment /= 2;
  }
  *out_alignment = alignment;
  return KW_OK;
}

static kw_status npu_release_memory(void *device_ptr, kw_mem mem) {
  npu_device *device = device_ptr;
  if (npu_arena_disown(device->arena, mem)) {
    return KW_OK;
  }
  return npu_fail(device->host, KW_ERR_INVALID_ARGUMENT, "release_memory: %p is no live import of the NPU", mem);
}

/* A handle names memory in our runtime, and a stream is its own name; DLPack knows no NPU of ours. */
static kw_status npu_native_handle(void *device_ptr, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  npu_device *device = device_ptr;
  if (kind > KW_OBJECT_MEMORY) {
    return npu_fail(device->host, KW_ERR_UNSUPPORTED, "native_handle: the NPU has no objects of kind %u",
                    (unsigned)kind);
  }
  out_handle->handle = kind == KW_OBJECT_DEVICE ? device : object;
  return KW_OK;
}

const kw_interop_api npu_interop_api = {
    .struct_size = sizeof(kw_interop_api),
    .import_memory = npu_import_memory,
    .release_memory = npu_release_memory,
    .native_handle = npu_native_handle,
};

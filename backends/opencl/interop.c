/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others: buffers over host pointers, where the device computes in the host's memory, and what objects are
 * called in OpenCL.
 */
#include "opencl.h"

#include <stdlib.h>

/* A buffer over a misaligned pointer, or on a device with memory of its own, is a copy behind the scenes. */
static kw_status check(ocl_device *device, const kw_external_memory *info, cl_uint *out_alignment) {
  cl_uint bits = 0;
  if (info->kind != KW_HANDLE_HOST || (info->flags & KW_FLAGS_CRITICAL & ~KW_EXTERNAL_READ_ONLY) != 0) {
    return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                        "memory of kind %u with flags 0x%llx: OpenCL 1.2 takes host memory, read-only or not",
                        info->kind, (unsigned long long)info->flags);
  }
  cl_int error = clGetDeviceInfo(device->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
  if (error != CL_SUCCESS) return ocl_check(device->base.host, error, "clGetDeviceInfo");
  *out_alignment = bits >= 8 ? bits / 8 : 1;
  if (device->unified && (uintptr_t)info->host % *out_alignment == 0) return KW_OK;
  return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                      device->unified ? "host memory at %p: CL_DEVICE_MEM_BASE_ADDR_ALIGN is %u bytes"
                                      : "host memory at %p: the device has memory of its own (alignment %u)",
                      info->host, *out_alignment);
}

static kw_status import_memory(void *state, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  ocl_device *device = state;
  cl_uint alignment = 1;
  kw_status status = check(device, info, &alignment);
  if (status != KW_OK) return status;
  ocl_mem *mem = malloc(sizeof *mem);
  if (!mem) return kw_gpu_error(device->base.host, KW_ERR_OUT_OF_MEMORY, "no host memory for an import");
  const bool read_only = (info->flags & KW_EXTERNAL_READ_ONLY) != 0;
  cl_int error = CL_SUCCESS;
  *mem = (ocl_mem){.size = info->size, .host = info->host, .written_back = !read_only};
  mem->buffer =
      clCreateBuffer(device->context, CL_MEM_USE_HOST_PTR | (read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE),
                     info->size, info->host, &error);
  if (error != CL_SUCCESS) {
    free(mem);
    return ocl_check(device->base.host, error, "clCreateBuffer over a host pointer");
  }
  *out_mem = mem;
  *out_alignment = alignment;
  return KW_OK;
}

bool ocl_import_place(kw_gpu_device *device, kw_mem mem, const void **out_host) {
  (void)device;
  *out_host = ((const ocl_mem *)mem)->host;
  return *out_host != NULL;
}

/* A map is what OpenCL promises to bring the contents to the host's pointer. */
static cl_int write_back(ocl_device *device, const ocl_mem *mem) {
  cl_int error;
  cl_command_queue queue = ocl_own_queue(device, &device->maps, 0, &error);
  if (error != CL_SUCCESS) return error;
  void *there = ocl_map_buffer(queue, mem->buffer, CL_MAP_READ, 0, mem->size, &error);
  return error == CL_SUCCESS ? ocl_unmap_buffer(queue, mem->buffer, there) : error;
}

static kw_status release_memory(void *state, kw_mem handle) {
  ocl_device *device = state;
  ocl_mem *mem = handle;
  const cl_int written = mem->written_back ? write_back(device, mem) : CL_SUCCESS;
  const cl_int released = clReleaseMemObject(mem->buffer);
  free(mem);
  return written != CL_SUCCESS ? ocl_check(device->base.host, written, "mapping an import to write it back")
                               : ocl_check(device->base.host, released, "clReleaseMemObject");
}

static kw_status native_handle(void *state, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  ocl_device *device = state;
  switch (kind) {
    case KW_OBJECT_DEVICE:
      out_handle->handle = device->id;
      break;
    case KW_OBJECT_STREAM:
      out_handle->handle = ((ocl_stream *)object)->queue;
      break;
    case KW_OBJECT_MEMORY:
      out_handle->handle = ((ocl_mem *)object)->buffer;
      break;
    default:
      return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED, "OpenCL has no objects of kind %u", kind);
  }
  out_handle->dl_device_type = OCL_DLPACK_DEVICE;
  return KW_OK;
}

const kw_interop_api ocl_interop_api = {
    .struct_size = sizeof(kw_interop_api),
    .import_memory = import_memory,
    .release_memory = release_memory,
    .native_handle = native_handle,
};

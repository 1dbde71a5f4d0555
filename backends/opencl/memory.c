/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: a kw_mem is a buffer and its size, of which account is kept.
 */
#include "opencl.h"

#include <stdlib.h>

static kw_status out_of_memory(const ocl_device *device, uint64_t size, const char *limit, uint64_t bytes) {
  return kw_gpu_error(
      device->base.host, KW_ERR_OUT_OF_MEMORY,
      "clCreateBuffer of %llu bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE; %s is %llu bytes, %llu are in use",
      (unsigned long long)size, limit, (unsigned long long)bytes, (unsigned long long)device->used);
}

/* Many drivers find memory for a buffer only when it is first used, when no call can answer "out of memory" any more.
 * So the limits are checked here. */
kw_status ocl_alloc(kw_gpu_device *base, const kw_alloc_info *info, kw_mem *out_mem) {
  ocl_device *device = (ocl_device *)base;
  cl_int error = CL_SUCCESS;
  if (info->kind == KW_MEM_HOST_VISIBLE && !device->unified)
    return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED, "the host does not reach this device's own memory");
  if (info->size > device->max_alloc)
    return out_of_memory(device, info->size, "CL_DEVICE_MAX_MEM_ALLOC_SIZE", device->max_alloc);
  if (atomic_fetch_add(&device->used, info->size) + info->size > device->total_memory) {
    atomic_fetch_sub(&device->used, info->size);
    return out_of_memory(device, info->size, "CL_DEVICE_GLOBAL_MEM_SIZE", device->total_memory);
  }
  ocl_mem *mem = malloc(sizeof *mem);
  if (mem) {
    *mem = (ocl_mem){.size = info->size};
    const cl_mem_flags where = info->kind == KW_MEM_HOST_PINNED ? CL_MEM_ALLOC_HOST_PTR : 0;
    error = CL_INVALID_CONTEXT;
    if (ocl_enter(device)) {
      mem->buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | where, info->size, NULL, &error);
      ocl_leave(device);
    }
    if (error == CL_SUCCESS) {
      *out_mem = mem;
      return KW_OK;
    }
  }
  free(mem);
  atomic_fetch_sub(&device->used, info->size);
  return ocl_check(base->host, mem ? error : CL_OUT_OF_HOST_MEMORY, "clCreateBuffer");
}

kw_status ocl_free(kw_gpu_device *base, kw_mem handle, kw_mem_kind kind) {
  ocl_device *device = (ocl_device *)base;
  ocl_mem *mem = handle;
  (void)kind;
  cl_int error = CL_SUCCESS;
  if (ocl_enter(device)) {
    error = clReleaseMemObject(mem->buffer);
    ocl_leave(device);
  }
  atomic_fetch_sub(&device->used, mem->size);
  free(mem);
  return ocl_check(base->host, error, "clReleaseMemObject");
}

kw_status ocl_copy(kw_gpu_device *device, kw_gpu_stream *base, const kw_copy_info *copy) {
  ocl_stream *stream = (ocl_stream *)base;
  const ocl_mem *to = copy->dst_mem, *from = copy->src_mem;
  const char *what;
  cl_event event = NULL;
  cl_int error;
  (void)device;
  cl_command_queue queue = ocl_stream_begin(stream);
  if (copy->kind == KW_COPY_HOST_TO_DEVICE) {
    what = "clEnqueueWriteBuffer";
    error = clEnqueueWriteBuffer(queue, to->buffer, CL_FALSE, copy->dst_offset, copy->size, copy->src_host, 0, NULL,
                                 &event);
  } else if (copy->kind == KW_COPY_DEVICE_TO_HOST) {
    what = "clEnqueueReadBuffer";
    error = clEnqueueReadBuffer(queue, from->buffer, CL_FALSE, copy->src_offset, copy->size, copy->dst_host, 0, NULL,
                                &event);
  } else {
    what = "clEnqueueCopyBuffer";
    error = clEnqueueCopyBuffer(queue, from->buffer, to->buffer, copy->src_offset, copy->dst_offset, copy->size, 0,
                                NULL, &event);
  }
  ocl_activity_note(stream, event, KW_ACTIVITY_COPY, kw_gpu_launching());
  return ocl_stream_end(stream, error, event, 0, what);
}

kw_status ocl_fill(kw_gpu_device *device, kw_gpu_stream *base, kw_mem handle, uint64_t offset, uint64_t size,
                   const void *pattern, uint32_t pattern_size) {
  ocl_stream *stream = (ocl_stream *)base;
  (void)device;
  const ocl_mem *mem = handle;
  cl_event event = NULL;
  cl_command_queue queue = ocl_stream_begin(stream);
  cl_int error = clEnqueueFillBuffer(queue, mem->buffer, pattern, pattern_size, offset, size, 0, NULL, &event);
  ocl_activity_note(stream, event, KW_ACTIVITY_FILL, kw_gpu_launching());
  return ocl_stream_end(stream, error, event, 0, "clEnqueueFillBuffer");
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

void *ocl_map_buffer(cl_command_queue queue, cl_mem buffer, cl_map_flags how, size_t offset, size_t size,
                     cl_int *out_error) {
  ocl_flags before;
  ocl_flags_take(&before);
  void *pointer = clEnqueueMapBuffer(queue, buffer, CL_TRUE, how, offset, size, 0, NULL, NULL, out_error);
  ocl_flags_set_back(&before);
  return pointer;
}

cl_int ocl_unmap_buffer(cl_command_queue queue, cl_mem buffer, void *pointer) {
  cl_event done = NULL;
  cl_int error = clEnqueueUnmapMemObject(queue, buffer, pointer, 0, NULL, &done);
  if (error == CL_SUCCESS) error = ocl_wait(done);
  if (done) clReleaseEvent(done);
  return error;
}

/* The host has waited for the stream, so the device's queue for maps has nothing to wait for. */
kw_status ocl_map(kw_gpu_device *base, kw_gpu_stream *stream, const kw_map_info *info, void **out_pointer) {
  ocl_device *device = (ocl_device *)base;
  const ocl_mem *mem = info->mem;
  cl_int error;
  (void)stream;
  const cl_map_flags flags = (info->flags & KW_MAP_READ) == 0    ? CL_MAP_WRITE_INVALIDATE_REGION
                             : (info->flags & KW_MAP_WRITE) == 0 ? CL_MAP_READ
                                                                 : CL_MAP_READ | CL_MAP_WRITE;
  cl_command_queue queue = ocl_own_queue(device, &device->maps, 0, &error);
  if (error != CL_SUCCESS) return ocl_check(base->host, error, "clCreateCommandQueue");
  *out_pointer = ocl_map_buffer(queue, mem->buffer, flags, info->offset, info->size, &error);
  return ocl_check(base->host, error, "clEnqueueMapBuffer");
}

kw_status ocl_unmap(kw_gpu_device *base, kw_gpu_stream *stream, const kw_map_info *info, void *pointer) {
  ocl_device *device = (ocl_device *)base;
  const ocl_mem *mem = info->mem;
  cl_int error;
  (void)stream;
  cl_command_queue queue = ocl_own_queue(device, &device->maps, 0, &error);
  if (error == CL_SUCCESS) error = ocl_unmap_buffer(queue, mem->buffer, pointer);
  return ocl_check(base->host, error, "clEnqueueUnmapMemObject");
}

kw_status ocl_usage(kw_gpu_device *base, uint64_t *out_free, uint64_t *out_total) {
  const ocl_device *device = (const ocl_device *)base;
  *out_total = device->total_memory;
  *out_free = device->total_memory - atomic_load(&device->used);
  return KW_OK;
}

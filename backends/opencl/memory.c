/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>

static kw_status out_of_memory(const ocl_device *device, uint64_t size, const char *limit, uint64_t bytes) {
  const kw_host_api *host = device->base.host;
  char text[200];
  snprintf(text, sizeof text,
           "clCreateBuffer of %llu bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE; %s is %llu bytes, %llu are in use",
           (unsigned long long)size, limit, (unsigned long long)bytes, (unsigned long long)device->used);
  return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, text);
}

/* Many drivers find memory for a buffer only when it is first used, when nobody can answer "out of memory" any more. So
 * the limits are checked here. */
static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  ocl_device *device = state;
  cl_int error = CL_SUCCESS;
  if (info->size > device->max_alloc)
    return out_of_memory(device, info->size, "CL_DEVICE_MAX_MEM_ALLOC_SIZE", device->max_alloc);
  if (atomic_fetch_add(&device->used, info->size) + info->size > device->total_memory) {
    atomic_fetch_sub(&device->used, info->size);
    return out_of_memory(device, info->size, "CL_DEVICE_GLOBAL_MEM_SIZE", device->total_memory);
  }
  ocl_mem *mem = malloc(sizeof *mem);
  if (mem) {
    mem->size = info->size;
    mem->buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE, info->size, NULL, &error);
    if (error == CL_SUCCESS) {
      *out_mem = mem;
      return KW_OK;
    }
  }
  free(mem);
  atomic_fetch_sub(&device->used, info->size);
  return ocl_fail(device->base.host, mem ? error : CL_OUT_OF_HOST_MEMORY, "clCreateBuffer");
}

static kw_status mem_free(void *state, kw_mem handle) {
  ocl_device *device = state;
  ocl_mem *mem = handle;
  cl_int error = clReleaseMemObject(mem->buffer);
  atomic_fetch_sub(&device->used, mem->size);
  free(mem);
  return error == CL_SUCCESS ? KW_OK : ocl_fail(device->base.host, error, "clReleaseMemObject");
}

static kw_status mem_copy(void *state, void *stream, const kw_copy_info *copy) {
  const ocl_device *device = state;
  const ocl_mem *to = copy->dst_mem, *from = copy->src_mem;
  const char *what;
  cl_event event = NULL;
  cl_int error;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE)
    return device->base.host->set_error(device->base.host->ctx, KW_ERR_UNSUPPORTED,
                                        "OpenCL copies between host and device and within the device only");
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
  return ocl_stream_end(stream, error, event, 0, what);
}

static kw_status mem_fill(void *state, void *stream, kw_mem handle, uint64_t offset, uint64_t size, const void *pattern,
                          uint32_t pattern_size) {
  (void)state;
  const ocl_mem *mem = handle;
  cl_event event = NULL;
  cl_command_queue queue = ocl_stream_begin(stream);
  cl_int error = clEnqueueFillBuffer(queue, mem->buffer, pattern, pattern_size, offset, size, 0, NULL, &event);
  return ocl_stream_end(stream, error, event, 0, "clEnqueueFillBuffer");
}

static kw_status mem_usage(void *state, uint64_t *out_free, uint64_t *out_total) {
  ocl_device *device = state;
  *out_total = device->total_memory;
  *out_free = device->total_memory - atomic_load(&device->used);
  return KW_OK;
}

const kw_memory_api ocl_memory_api = {
    .struct_size = sizeof ocl_memory_api,
    .alloc = mem_alloc,
    .free = mem_free,
    .copy = mem_copy,
    .fill = mem_fill,
    .usage = mem_usage,
};

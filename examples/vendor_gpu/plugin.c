/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole device in one file: the functions that reach the chip, and a table of them. The rest of the plugin and every
 * op are the plugin kit's. The chip's runtime is OpenCL here; one that compiles kernels from source in some other
 * language takes its place function by function. Only installed headers are included.
 *
 * What is left out, the host derives: events, callbacks on streams, fills, memory usage. backends/opencl in Keyway's
 * tree has them all, and more careful errors.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <keyway/gpu.h>
#include <stdio.h>

/* KW_OK, or the status that stands for the error, with a text that names the call. */
static kw_status answer(const kw_gpu_device *device, cl_int error, const char *call) {
  if (error == CL_SUCCESS) return KW_OK;
  kw_status status = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                             error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE
                         ? KW_ERR_OUT_OF_MEMORY
                         : KW_ERR_INTERNAL;
  return kw_gpu_error(device->host, status, "%s failed with OpenCL error %d", call, (int)error);
}

/* ---- Devices: a handle is a cl_context --------------------------------------------------------------------------- */

static kw_status probe(const char **out_reason) {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, NULL, &count) == CL_SUCCESS && count > 0) return KW_OK;
  *out_reason = "no OpenCL platform is installed; install your driver's ICD, or pocl-opencl-icd for the CPU";
  return KW_ERR_NOT_FOUND;
}

static kw_status find(const kw_host_api *host, kw_gpu_list *list) {
  cl_device_id ids[16];
  cl_platform_id platform;
  cl_uint count = 0;
  kw_status status = KW_OK;
  (void)host;
  if (clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS)
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, sizeof ids / sizeof ids[0], ids, &count);
  for (cl_uint i = 0; i < count && i < sizeof ids / sizeof ids[0] && status == KW_OK; ++i)
    status = kw_gpu_list_add(list, platform, ids[i]);
  return status;
}

static cl_ulong number_of(const kw_gpu_physical *physical, cl_device_info what) {
  cl_ulong value = 0;
  clGetDeviceInfo(physical->id, what, sizeof value, &value, NULL);
  return value;
}

static kw_status describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info) {
  cl_device_id id = physical->id;
  (void)host;
  out_info->type = number_of(physical, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU ? KW_DEVICE_CPU : KW_DEVICE_GPU;
  out_info->compute_units = (uint32_t)number_of(physical, CL_DEVICE_MAX_COMPUTE_UNITS);
  clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof out_info->name - 1, out_info->name, NULL);
  clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof out_info->vendor - 1, out_info->vendor, NULL);
  clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof out_info->driver_version - 1, out_info->driver_version, NULL);
  out_info->total_memory = number_of(physical, CL_DEVICE_GLOBAL_MEM_SIZE);
  out_info->max_alloc = number_of(physical, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out_info->mem_alignment = 64;
  out_info->offset_alignment = 64;
  return KW_OK;
}

static bool has_f64(const kw_gpu_physical *physical) {
  return number_of(physical, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
}

static kw_status open_device(kw_gpu_device *device, const kw_open_info *info) {
  (void)info;
  cl_device_id id = device->physical.id;
  cl_int error;
  device->handle = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
  return answer(device, error, "clCreateContext");
}

static kw_status close_device(kw_gpu_device *device) {
  return answer(device, clReleaseContext(device->handle), "clReleaseContext");
}

/* ---- Memory: a kw_mem is a cl_mem -------------------------------------------------------------------------------- */

static kw_status mem_alloc(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem) {
  cl_int error;
  *out_mem = clCreateBuffer(device->handle, CL_MEM_READ_WRITE, info->size, NULL, &error);
  return answer(device, error, "clCreateBuffer");
}

static kw_status mem_free(kw_gpu_device *device, kw_mem mem, kw_mem_kind kind) {
  (void)kind;
  return answer(device, clReleaseMemObject(mem), "clReleaseMemObject");
}

/* A stream knows its newest command, under the device's lock: when that has ended, all have. */
typedef struct gpu_stream {
  kw_gpu_stream base;
  cl_event newest;
} gpu_stream;

static void set_newest(kw_gpu_stream *stream, cl_event event) {
  gpu_stream *own = (gpu_stream *)stream;
  if (own->newest) clReleaseEvent(own->newest);
  own->newest = event;
}

static kw_status mem_copy(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *copy) {
  cl_command_queue queue = stream->handle;
  cl_event event;
  cl_int error;
  pthread_mutex_lock(&device->lock);
  if (copy->kind == KW_COPY_HOST_TO_DEVICE)
    error = clEnqueueWriteBuffer(queue, copy->dst_mem, CL_FALSE, copy->dst_offset, copy->size, copy->src_host, 0, NULL,
                                 &event);
  else if (copy->kind == KW_COPY_DEVICE_TO_HOST)
    error = clEnqueueReadBuffer(queue, copy->src_mem, CL_FALSE, copy->src_offset, copy->size, copy->dst_host, 0, NULL,
                                &event);
  else
    error = clEnqueueCopyBuffer(queue, copy->src_mem, copy->dst_mem, copy->src_offset, copy->dst_offset, copy->size, 0,
                                NULL, &event);
  if (error == CL_SUCCESS) set_newest(stream, event);
  pthread_mutex_unlock(&device->lock);
  if (error == CL_SUCCESS) error = clFlush(queue);
  return answer(device, error, "a copy");
}

/* ---- Streams: an in-order queue each ----------------------------------------------------------------------------- */

static kw_status stream_create(kw_gpu_stream *stream, uint64_t flags) {
  cl_int error;
  (void)flags;
  stream->handle = clCreateCommandQueue(stream->device->handle, stream->device->physical.id, 0, &error);
  return answer(stream->device, error, "clCreateCommandQueue");
}

static kw_status stream_destroy(kw_gpu_stream *stream) {
  set_newest(stream, NULL);
  return answer(stream->device, clReleaseCommandQueue(stream->handle), "clReleaseCommandQueue");
}

static kw_status event_passed(void *event) {
  cl_int state = CL_COMPLETE;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  return state > CL_COMPLETE ? KW_ERR_NOT_READY : KW_OK;
}

/* OpenCL's own wait has no limit. */
static kw_status stream_synchronize(kw_gpu_stream *stream, uint64_t timeout_ns) {
  if (timeout_ns == KW_WAIT_FOREVER) return answer(stream->device, clFinish(stream->handle), "clFinish");
  pthread_mutex_lock(&stream->device->lock);
  cl_event newest = ((gpu_stream *)stream)->newest;
  if (newest) clRetainEvent(newest);
  pthread_mutex_unlock(&stream->device->lock);
  if (!newest) return KW_OK;
  kw_status status = kw_gpu_poll(event_passed, newest, timeout_ns);
  clReleaseEvent(newest);
  return status;
}

/* ---- Programs and launches --------------------------------------------------------------------------------------- */

static kw_status module_build(kw_gpu_device *device, const char *name, const char *const *sources,
                              uint32_t source_count, void **out_module) {
  cl_device_id id = device->physical.id;
  char log[2000] = "";
  cl_int error;
  cl_program program =
      clCreateProgramWithSource(device->handle, source_count, (const char **)(uintptr_t)sources, NULL, &error);
  if (error != CL_SUCCESS) return answer(device, error, "clCreateProgramWithSource");
  if (clBuildProgram(program, 1, &id, "-cl-std=CL1.2", NULL, NULL) != CL_SUCCESS) {
    clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    clReleaseProgram(program);
    return kw_gpu_error(device->host, KW_ERR_INTERNAL, "building %s: %s", name, log);
  }
  *out_module = program;
  return KW_OK;
}

static void module_destroy(kw_gpu_device *device, void *module) {
  (void)device;
  clReleaseProgram(module);
}

static kw_status kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel) {
  cl_int error;
  *out_kernel = clCreateKernel(module, name, &error);
  return answer(device, error, "clCreateKernel");
}

static void kernel_destroy(kw_gpu_device *device, void *kernel) {
  (void)device;
  clReleaseKernel(kernel);
}

/* A kernel's arguments and its launch are one step, under the device's lock. */
static kw_status launch(kw_gpu_device *device, kw_gpu_stream *stream, const kw_gpu_launch *launch) {
  const size_t local[2] = {launch->local[0], launch->local[1]};
  const size_t global[2] = {launch->groups[0] * local[0], launch->groups[1] * local[1]};
  cl_event event;
  cl_int error = CL_SUCCESS;
  pthread_mutex_lock(&device->lock);
  for (uint32_t i = 0; i < launch->arg_count && error == CL_SUCCESS; ++i) {
    const kw_gpu_arg *arg = &launch->args[i];
    error = arg->data ? clSetKernelArg(launch->kernel, i, arg->size, arg->data)
                      : clSetKernelArg(launch->kernel, i, sizeof(cl_mem), &arg->mem);
  }
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(stream->handle, launch->kernel, 2, NULL, global, local, 0, NULL, &event);
  if (error == CL_SUCCESS) set_newest(stream, event);
  pthread_mutex_unlock(&device->lock);
  if (error == CL_SUCCESS) error = clFlush(stream->handle);
  return answer(device, error, "clEnqueueNDRangeKernel");
}

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

static const kw_gpu_driver driver = {
    .key = "agpu",
    .vendor = "acme",
    .version = "1.0.0",
    .description = "agpu, a device of acme on the plugin kit, over OpenCL",
    .build = __VERSION__,
    .sanitizer = KW_GPU_SANITIZER,
    .probe = probe,
    .find = find,
    .describe = describe,
    .has_f64 = has_f64,
    .open = open_device, /* no identify: OpenCL's drivers keep built programs themselves */
    .close = close_device,
    .alloc = mem_alloc,
    .dealloc = mem_free,
    .copy = mem_copy,
    .stream_size = sizeof(gpu_stream),
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .prelude = kw_gpu_prelude_opencl,
    .module_build = module_build,
    .module_destroy = module_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .launch = launch,
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_gpu_query(&driver, host, out_plugin, out_reason);
}

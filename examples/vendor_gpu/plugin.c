/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole device in one file: Keyway's plugin kit brings every op, this file the fifteen functions that reach the chip.
 * The chip's runtime is OpenCL here; one that compiles kernels from source in some other language takes its place
 * function by function. Only installed headers are included.
 *
 * What is left out, the host derives: events, callbacks on streams, fills, memory usage. backends/opencl in Keyway's
 * tree has them all, and more careful errors.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <keyway/gpu.h>
#include <keyway/plugin.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_DEVICES 16

typedef struct agpu_plugin {
  const kw_host_api *host;
  cl_uint count;
  cl_device_id ids[MOST_DEVICES];
} agpu_plugin;

typedef struct agpu_device {
  kw_gpu_device base; /* first: the kit hands it back */
  cl_device_id id;
  cl_context context;
  pthread_mutex_t lock; /* a kernel's arguments and its launch are one step */
} agpu_device;

static kw_status agpu_fail(const kw_host_api *host, cl_int error, const char *what) {
  char text[120];
  kw_status status = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                             error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE
                         ? KW_ERR_OUT_OF_MEMORY
                         : KW_ERR_INTERNAL;
  snprintf(text, sizeof text, "%s failed with OpenCL error %d", what, (int)error);
  return host->set_error(host->ctx, status, text);
}

/* ---- Programs and launches: what the kit asks for ---------------------------------------------------------------- */

static kw_status module_build(kw_gpu_device *base, const char *name, const char *const *sources, uint32_t source_count,
                              void **out_module) {
  agpu_device *device = (agpu_device *)base;
  char log[2000] = "", text[2200];
  cl_int error;
  cl_program program =
      clCreateProgramWithSource(device->context, source_count, (const char **)(uintptr_t)sources, NULL, &error);
  if (error != CL_SUCCESS) return agpu_fail(base->host, error, "clCreateProgramWithSource");
  error = clBuildProgram(program, 1, &device->id, "-cl-std=CL1.2", NULL, NULL);
  if (error != CL_SUCCESS) {
    clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    clReleaseProgram(program);
    snprintf(text, sizeof text, "building %s: %s", name, log);
    return base->host->set_error(base->host->ctx, KW_ERR_INTERNAL, text);
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
  return error == CL_SUCCESS ? KW_OK : agpu_fail(device->host, error, "clCreateKernel");
}

static void kernel_destroy(kw_gpu_device *device, void *kernel) {
  (void)device;
  clReleaseKernel(kernel);
}

static kw_status launch(kw_gpu_device *base, void *stream, const kw_gpu_launch *launch) {
  agpu_device *device = (agpu_device *)base;
  const size_t local[2] = {launch->local[0], launch->local[1]};
  const size_t global[2] = {launch->groups[0] * local[0], launch->groups[1] * local[1]};
  cl_int error = CL_SUCCESS;
  pthread_mutex_lock(&device->lock);
  for (uint32_t i = 0; i < launch->arg_count && error == CL_SUCCESS; ++i) {
    const kw_gpu_arg *arg = &launch->args[i];
    error = arg->data ? clSetKernelArg(launch->kernel, i, arg->size, arg->data)
                      : clSetKernelArg(launch->kernel, i, sizeof(cl_mem), &arg->mem);
  }
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(stream, launch->kernel, 2, NULL, global, local, 0, NULL, NULL);
  pthread_mutex_unlock(&device->lock);
  if (error == CL_SUCCESS) error = clFlush(stream);
  return error == CL_SUCCESS ? KW_OK : agpu_fail(base->host, error, "clEnqueueNDRangeKernel");
}

/* ---- Memory: a kw_mem is a cl_mem -------------------------------------------------------------------------------- */

static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  agpu_device *device = state;
  cl_int error;
  *out_mem = clCreateBuffer(device->context, CL_MEM_READ_WRITE, info->size, NULL, &error);
  return error == CL_SUCCESS ? KW_OK : agpu_fail(device->base.host, error, "clCreateBuffer");
}

static kw_status mem_free(void *state, kw_mem mem) {
  const agpu_device *device = state;
  cl_int error = clReleaseMemObject(mem);
  return error == CL_SUCCESS ? KW_OK : agpu_fail(device->base.host, error, "clReleaseMemObject");
}

static kw_status mem_copy(void *state, void *stream, const kw_copy_info *copy) {
  const agpu_device *device = state;
  cl_int error;
  switch (copy->kind) {
    case KW_COPY_HOST_TO_DEVICE:
      error = clEnqueueWriteBuffer(stream, copy->dst_mem, CL_FALSE, copy->dst_offset, copy->size, copy->src_host, 0,
                                   NULL, NULL);
      break;
    case KW_COPY_DEVICE_TO_HOST:
      error = clEnqueueReadBuffer(stream, copy->src_mem, CL_FALSE, copy->src_offset, copy->size, copy->dst_host, 0,
                                  NULL, NULL);
      break;
    case KW_COPY_DEVICE_TO_DEVICE:
      error = clEnqueueCopyBuffer(stream, copy->src_mem, copy->dst_mem, copy->src_offset, copy->dst_offset, copy->size,
                                  0, NULL, NULL);
      break;
    default:
      return device->base.host->set_error(device->base.host->ctx, KW_ERR_UNSUPPORTED,
                                          "copies go between host and device and within the device only");
  }
  if (error == CL_SUCCESS) error = clFlush(stream);
  return error == CL_SUCCESS ? KW_OK : agpu_fail(device->base.host, error, "a copy");
}

static const kw_memory_api memory_api = {
    .struct_size = sizeof memory_api, .alloc = mem_alloc, .free = mem_free, .copy = mem_copy};

/* ---- Streams: an in-order queue each ----------------------------------------------------------------------------- */

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  const agpu_device *device = state;
  cl_int error;
  (void)info;
  *out_stream = clCreateCommandQueue(device->context, device->id, 0, &error);
  return error == CL_SUCCESS ? KW_OK : agpu_fail(device->base.host, error, "clCreateCommandQueue");
}

static kw_status stream_synchronize(void *state, void *stream) {
  const agpu_device *device = state;
  cl_int error = clFinish(stream);
  return error == CL_SUCCESS ? KW_OK : agpu_fail(device->base.host, error, "clFinish");
}

static kw_status stream_destroy(void *state, void *stream) {
  kw_status status = stream_synchronize(state, stream);
  clReleaseCommandQueue(stream);
  return status;
}

static const kw_stream_api stream_api = {.struct_size = sizeof stream_api,
                                         .create = stream_create,
                                         .destroy = stream_destroy,
                                         .synchronize = stream_synchronize};

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static const kw_gpu_driver driver = {
    .prelude = kw_gpu_prelude_opencl,
    .module_build = module_build,
    .module_destroy = module_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .launch = launch,
    .memory = &memory_api,
};

static cl_ulong number_of(cl_device_id id, cl_device_info what) {
  cl_ulong value = 0;
  clGetDeviceInfo(id, what, sizeof value, &value, NULL);
  return value;
}

static kw_status device_count(void *plugin, uint32_t *out_count) {
  *out_count = ((agpu_plugin *)plugin)->count;
  return KW_OK;
}

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  cl_device_id id = ((agpu_plugin *)plugin)->ids[index];
  out_info->type = number_of(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU ? KW_DEVICE_CPU : KW_DEVICE_GPU;
  out_info->compute_units = (uint32_t)number_of(id, CL_DEVICE_MAX_COMPUTE_UNITS);
  clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof out_info->name - 1, out_info->name, NULL);
  clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof out_info->vendor - 1, out_info->vendor, NULL);
  clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof out_info->driver_version - 1, out_info->driver_version, NULL);
  out_info->total_memory = number_of(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  out_info->max_alloc = number_of(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out_info->mem_alignment = 64;
  out_info->offset_alignment = 64;
  return KW_OK;
}

static kw_status device_open(void *state, uint32_t index, void **out_device) {
  const agpu_plugin *plugin = state;
  cl_int error;
  agpu_device *device = calloc(1, sizeof *device);
  if (!device) return agpu_fail(plugin->host, CL_OUT_OF_HOST_MEMORY, "opening a device");
  device->id = plugin->ids[index];
  device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &error);
  if (error != CL_SUCCESS) {
    free(device);
    return agpu_fail(plugin->host, error, "clCreateContext");
  }
  /* No identity: OpenCL's drivers keep built programs themselves. */
  kw_status status = kw_gpu_device_start(&device->base, &driver, plugin->host,
                                         number_of(device->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0, NULL);
  if (status != KW_OK) {
    clReleaseContext(device->context);
    free(device);
    return status;
  }
  pthread_mutex_init(&device->lock, NULL);
  *out_device = device;
  return KW_OK;
}

static kw_status device_close(void *state) {
  agpu_device *device = state;
  kw_gpu_device_finish(&device->base);
  clReleaseContext(device->context);
  pthread_mutex_destroy(&device->lock);
  free(device);
  return KW_OK;
}

static const kw_device_api device_api = {.struct_size = sizeof device_api,
                                         .count = device_count,
                                         .info = device_info,
                                         .open = device_open,
                                         .close = device_close};

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

static kw_status probe(const char **out_reason) {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, NULL, &count) == CL_SUCCESS && count > 0) return KW_OK;
  *out_reason = "no OpenCL platform is installed; install your driver's ICD, or pocl-opencl-icd for the CPU";
  return KW_ERR_NOT_FOUND;
}

/* OpenCL drivers with a compiler inside install handlers of signals; the application's own are put back. */
static void find_devices(agpu_plugin *plugin) {
  struct sigaction before[NSIG];
  cl_platform_id platform;
  for (int i = 1; i < NSIG; ++i) sigaction(i, NULL, &before[i]);
  if (clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS)
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES, plugin->ids, &plugin->count);
  if (plugin->count > MOST_DEVICES) plugin->count = MOST_DEVICES;
  for (int i = 1; i < NSIG; ++i) sigaction(i, &before[i], NULL);
}

static kw_status init(const kw_host_api *host, void **out_plugin) {
  bool has_f64 = false;
  agpu_plugin *plugin = calloc(1, sizeof *plugin);
  if (!plugin) return agpu_fail(host, CL_OUT_OF_HOST_MEMORY, "init");
  plugin->host = host;
  find_devices(plugin);
  for (cl_uint i = 0; i < plugin->count; ++i)
    has_f64 = has_f64 || number_of(plugin->ids[i], CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  kw_status status = kw_gpu_register(host, has_f64); /* a kernel for every op */
  if (status != KW_OK) {
    free(plugin);
    return status;
  }
  *out_plugin = plugin;
  return KW_OK;
}

static kw_status shutdown(void *plugin) {
  free(plugin);
  return KW_OK;
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &device_api},
    {KW_GROUP_MEMORY, &memory_api},
    {KW_GROUP_STREAM, &stream_api},
};

static const kw_plugin_desc desc = {
    .struct_size = sizeof desc,
    .abi_version = KW_ABI_VERSION,
    .key = "agpu",
    .vendor = "acme",
    .version = "1.0.0",
    .description = "Example vendor: a device on the plugin kit, over OpenCL",
    .build = __VERSION__,
    .sanitizer = "",
    .probe = probe,
    .init = init,
    .shutdown = shutdown,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  if (KW_ABI_MAJOR(host->abi_max) != KW_ABI_MAJOR(KW_ABI_VERSION) || host->abi_min > KW_ABI_VERSION) {
    *out_reason = "this plugin was built for another version of Keyway's ABI; rebuild it";
    return KW_ERR_ABI_MISMATCH;
  }
  *out_plugin = &desc;
  return KW_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs and launches.
 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clSetKernelArg on one cl_kernel is the one OpenCL call that is not thread-safe: setting arguments and enqueueing is
 * one step under the lock. */
typedef struct ocl_kernel {
  cl_kernel kernel;
  pthread_mutex_t lock;
} ocl_kernel;

/* Tells what the compiler said; "<source>:LINE" counts lines of all sources joined, so the first line named in the log
 * is quoted. */
static kw_status build_failure(ocl_device *device, cl_program program, cl_int error, const char *name,
                               const char *const *sources, uint32_t source_count) {
  char log[1500] = "", quoted[200] = "";
  size_t log_size = 0;
  unsigned line = 0;
  clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &log_size);
  char *whole = log_size ? calloc(1, log_size + 1) : NULL;
  if (whole && clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, log_size, whole, NULL) == CL_SUCCESS)
    snprintf(log, sizeof log, "%s", whole);
  free(whole);
  for (const char *p = log; *p; ++p)
    if (sscanf(p, ":%u:%*u:", &line) == 1) break;
  for (uint32_t i = 0; i < source_count && line > 0; ++i) {
    for (const char *p = sources[i]; *p;) {
      const char *end = strchr(p, '\n');
      size_t length = end ? (size_t)(end - p) : strlen(p);
      if (--line == 0) {
        snprintf(quoted, sizeof quoted, "\nline: %.*s", (int)(length < 160 ? length : 160), p);
        break;
      }
      p += length + (end ? 1 : 0);
    }
  }
  return kw_gpu_error(device->base.host, ocl_error_status(error),
                      "clBuildProgram of %s: %s; the driver's compiler says: %s%s", name, ocl_error_name(error), log,
                      quoted);
}

static cl_int build(const ocl_device *device, cl_program program) {
  ocl_flags before;
  ocl_flags_take(&before);
  const char *options =
      device->quirks & OCL_BLOCKS_IN_MEMORY ? OCL_BUILD_OPTIONS " -DKW_BLOCK_IN_MEMORY=1" : OCL_BUILD_OPTIONS;
  cl_int error = clBuildProgram(program, 1, &device->id, options, NULL, NULL);
  ocl_flags_set_back(&before);
  return error;
}

kw_status ocl_module_build(kw_gpu_device *base, const char *name, const char *const *sources, uint32_t source_count,
                           void **out_module) {
  ocl_device *device = (ocl_device *)base;
  cl_int error = CL_SUCCESS;
  /* clCreateProgramWithSource reads its sources only, but has no const in its prototype's pointer. */
  cl_program program =
      clCreateProgramWithSource(device->context, source_count, (const char **)(uintptr_t)sources, NULL, &error);
  if (error != CL_SUCCESS) return ocl_check(base->host, error, "clCreateProgramWithSource");
  error = build(device, program);
  if (error != CL_SUCCESS) {
    kw_status status = build_failure(device, program, error, name, sources, source_count);
    clReleaseProgram(program);
    return status;
  }
  *out_module = program;
  return KW_OK;
}

/* The context has one device, so the program has one binary. */
kw_status ocl_module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size) {
  size_t size = 0;
  cl_int error = clGetProgramInfo(module, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
  if (error != CL_SUCCESS) return ocl_check(device->host, error, "clGetProgramInfo");
  unsigned char *bytes = size > 0 ? malloc(size) : NULL;
  if (!bytes) return ocl_check(device->host, CL_OUT_OF_HOST_MEMORY, "clGetProgramInfo");
  error = clGetProgramInfo(module, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL);
  if (error != CL_SUCCESS) {
    free(bytes);
    return ocl_check(device->host, error, "clGetProgramInfo");
  }
  *out_bytes = bytes;
  *out_size = size;
  return KW_OK;
}

kw_status ocl_module_load(kw_gpu_device *base, const char *name, const void *bytes, size_t size, void **out_module) {
  ocl_device *device = (ocl_device *)base;
  const unsigned char *binary = bytes;
  cl_int error = CL_SUCCESS;
  (void)name;
  cl_program program = clCreateProgramWithBinary(device->context, 1, &device->id, &size, &binary, NULL, &error);
  if (error != CL_SUCCESS) return ocl_check(base->host, error, "clCreateProgramWithBinary");
  error = build(device, program);
  if (error != CL_SUCCESS) {
    clReleaseProgram(program);
    return ocl_check(base->host, error, "clBuildProgram");
  }
  *out_module = program;
  return KW_OK;
}

void ocl_module_destroy(kw_gpu_device *device, void *module) {
  (void)device;
  clReleaseProgram(module);
}

kw_status ocl_kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel) {
  cl_int error = CL_SUCCESS;
  ocl_kernel *kernel = malloc(sizeof *kernel);
  if (!kernel) return ocl_check(device->host, CL_OUT_OF_HOST_MEMORY, "clCreateKernel");
  kernel->kernel = clCreateKernel(module, name, &error);
  if (error != CL_SUCCESS) {
    free(kernel);
    return ocl_check(device->host, error, "clCreateKernel");
  }
  pthread_mutex_init(&kernel->lock, NULL);
  *out_kernel = kernel;
  return KW_OK;
}

void ocl_kernel_destroy(kw_gpu_device *device, void *handle) {
  (void)device;
  ocl_kernel *kernel = handle;
  clReleaseKernel(kernel->kernel);
  pthread_mutex_destroy(&kernel->lock);
  free(kernel);
}

static void name_of(cl_kernel kernel, char *out, size_t size) {
  if (clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, out, NULL) != CL_SUCCESS) snprintf(out, size, "a kernel");
}

/* Both give `out`. */
static const char *describe_argument(cl_kernel kernel, cl_uint i, const kw_gpu_arg *arg, char *out, size_t size) {
  char name[96];
  name_of(kernel, name, sizeof name);
  if (arg->data) {
    snprintf(out, size, "clSetKernelArg of %s, argument %u of %zu bytes", name, i, arg->size);
  } else {
    snprintf(out, size, "clSetKernelArg of %s, argument %u, a buffer", name, i);
  }
  return out;
}

static const char *describe_launch(cl_kernel kernel, const kw_gpu_launch *launch, char *out, size_t size) {
  char name[96];
  name_of(kernel, name, sizeof name);
  snprintf(out, size, "clEnqueueNDRangeKernel of %s, %llu x %llu groups of %u x %u items", name,
           (unsigned long long)launch->groups[0], (unsigned long long)launch->groups[1], launch->local[0],
           launch->local[1]);
  return out;
}

/* Sets an argument. The block, the first one by value, goes to memory where the device wants it there: *out_block, to
 * be released once the launch is enqueued. */
static cl_int set_argument(const ocl_device *device, cl_kernel kernel, const kw_gpu_launch *launch, cl_uint i,
                           cl_mem *out_block) {
  const kw_gpu_arg *arg = &launch->args[i];
  if (!arg->data) return clSetKernelArg(kernel, i, sizeof(cl_mem), &((const ocl_mem *)arg->mem)->buffer);
  const bool is_block = i == 0 || !launch->args[i - 1].data;
  if (!is_block || !(device->quirks & OCL_BLOCKS_IN_MEMORY)) return clSetKernelArg(kernel, i, arg->size, arg->data);
  cl_int error = CL_SUCCESS;
  *out_block = clCreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, arg->size,
                              (void *)(uintptr_t)arg->data, &error); /* which it only reads */
  return error == CL_SUCCESS ? clSetKernelArg(kernel, i, sizeof *out_block, out_block) : error;
}

kw_status ocl_launch(kw_gpu_device *device, kw_gpu_stream *base, const kw_gpu_launch *launch) {
  ocl_stream *stream = (ocl_stream *)base;
  ocl_kernel *kernel = launch->kernel;
  const size_t local[2] = {launch->local[0], launch->local[1]};
  const size_t global[2] = {launch->groups[0] * local[0], launch->groups[1] * local[1]};
  cl_int error = CL_SUCCESS;
  cl_event event = NULL;
  cl_mem block = NULL;
  const char *what = "clEnqueueNDRangeKernel";
  char text[200];
  cl_command_queue queue = ocl_stream_begin(stream);
  pthread_mutex_lock(&kernel->lock);
  for (uint32_t i = 0; i < launch->arg_count && error == CL_SUCCESS; ++i) {
    error = set_argument((const ocl_device *)device, kernel->kernel, launch, i, &block);
    if (error != CL_SUCCESS) what = describe_argument(kernel->kernel, i, &launch->args[i], text, sizeof text);
  }
  if (error == CL_SUCCESS) {
    error = clEnqueueNDRangeKernel(queue, kernel->kernel, 2, NULL, global, local, 0, NULL, &event);
    ocl_activity_note(stream, event, KW_ACTIVITY_LAUNCH, launch->call_id);
    if (error != CL_SUCCESS) what = describe_launch(kernel->kernel, launch, text, sizeof text);
  }
  pthread_mutex_unlock(&kernel->lock);
  if (block) clReleaseMemObject(block); /* the command has it */
  return ocl_stream_end(stream, error, event, launch->call_id, what);
}

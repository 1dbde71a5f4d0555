/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs, from the SPIR-V that the plugin brings, and launches.
 */
#include "levelzero.h"

#include "spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Setting a kernel's arguments and appending it is one step, under the lock. */
typedef struct lz_kernel {
  ze_kernel_handle_t handle;
  pthread_mutex_t lock;
} lz_kernel;

/* Buffers may be larger than 4 GB. */
#define BUILD_FLAGS "-ze-opt-greater-than-4GB-buffer-required"

/* Tells what the driver's compiler said; destroys the log. */
static kw_status build_failure(const lz_device *device, ze_result_t result, const char *name,
                               ze_module_build_log_handle_t log) {
  char text[1500] = "", what[1700];
  size_t size = 0;
  if (log && ze.ModuleBuildLogGetString(log, &size, NULL) == ZE_RESULT_SUCCESS && size > 0) {
    char *whole = calloc(1, size + 1);
    if (whole && ze.ModuleBuildLogGetString(log, &size, whole) == ZE_RESULT_SUCCESS)
      snprintf(text, sizeof text, "; the driver's compiler says: %s", whole);
    free(whole);
  }
  if (log) ze.ModuleBuildLogDestroy(log);
  snprintf(what, sizeof what, "zeModuleCreate of %s%s", name, text);
  return lz_check(device, result, what);
}

static kw_status create_module(kw_gpu_device *base, const char *name, ze_module_format_t format, const void *bytes,
                               size_t size, void **out_module) {
  const lz_device *device = (const lz_device *)base;
  const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                 .format = format,
                                 .inputSize = size,
                                 .pInputModule = bytes,
                                 .pBuildFlags = BUILD_FLAGS};
  ze_module_handle_t module = NULL;
  ze_module_build_log_handle_t log = NULL;
  ze_result_t result = ze.ModuleCreate(device->context, device->id, &desc, &module, &log);
  if (result != ZE_RESULT_SUCCESS) return build_failure(device, result, name, log);
  if (log) ze.ModuleBuildLogDestroy(log);
  *out_module = module;
  return KW_OK;
}

kw_status lz_module_build(kw_gpu_device *device, const char *name, const char *const *sources, uint32_t source_count,
                          void **out_module) {
  (void)sources, (void)source_count; /* what the SPIR-V was made of */
  for (const kw_gpu_binary *binary = kw_gpu_spirv; binary->name; ++binary)
    if (strcmp(binary->name, name) == 0)
      return create_module(device, name, ZE_MODULE_FORMAT_IL_SPIRV, binary->begin,
                           (size_t)(binary->end - binary->begin), out_module);
  return kw_gpu_error(device->host, KW_ERR_INTERNAL, "this plugin was built without the program %s; rebuild it", name);
}

kw_status lz_module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size, void **out_module) {
  return create_module(device, name, ZE_MODULE_FORMAT_NATIVE, bytes, size, out_module);
}

kw_status lz_module_save(kw_gpu_device *base, void *module, void **out_bytes, size_t *out_size) {
  const lz_device *device = (const lz_device *)base;
  size_t size = 0;
  ze_result_t result = ze.ModuleGetNativeBinary(module, &size, NULL);
  unsigned char *bytes = result == ZE_RESULT_SUCCESS && size > 0 ? malloc(size) : NULL;
  if (result == ZE_RESULT_SUCCESS)
    result = bytes ? ze.ModuleGetNativeBinary(module, &size, bytes) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  if (result == ZE_RESULT_SUCCESS) {
    *out_bytes = bytes;
    *out_size = size;
  } else {
    free(bytes);
  }
  return lz_check(device, result, "zeModuleGetNativeBinary");
}

void lz_module_destroy(kw_gpu_device *device, void *module) {
  (void)device;
  ze.ModuleDestroy(module);
}

kw_status lz_kernel_create(kw_gpu_device *base, void *module, const char *name, void **out_kernel) {
  const lz_device *device = (const lz_device *)base;
  const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
  lz_kernel *kernel = malloc(sizeof *kernel);
  ze_result_t result = kernel ? ze.KernelCreate(module, &desc, &kernel->handle) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  if (result != ZE_RESULT_SUCCESS) {
    free(kernel);
    return lz_check(device, result, "zeKernelCreate");
  }
  pthread_mutex_init(&kernel->lock, NULL);
  *out_kernel = kernel;
  return KW_OK;
}

void lz_kernel_destroy(kw_gpu_device *device, void *handle) {
  (void)device;
  lz_kernel *kernel = handle;
  ze.KernelDestroy(kernel->handle);
  pthread_mutex_destroy(&kernel->lock);
  free(kernel);
}

static ze_result_t set_arguments(const lz_kernel *kernel, const kw_gpu_launch *launch) {
  ze_result_t result = ze.KernelSetGroupSize(kernel->handle, launch->local[0], launch->local[1], 1);
  for (uint32_t i = 0; i < launch->arg_count && result == ZE_RESULT_SUCCESS; ++i) {
    const kw_gpu_arg *arg = &launch->args[i];
    result = arg->data ? ze.KernelSetArgumentValue(kernel->handle, i, arg->size, arg->data)
                       : ze.KernelSetArgumentValue(kernel->handle, i, sizeof arg->mem, &arg->mem);
  }
  return result;
}

kw_status lz_launch(kw_gpu_device *base, kw_gpu_stream *handle, const kw_gpu_launch *launch) {
  lz_stream *stream = (lz_stream *)handle;
  const lz_device *device = (const lz_device *)base;
  lz_kernel *kernel = launch->kernel;
  if (launch->groups[0] > UINT32_MAX || launch->groups[1] > UINT32_MAX)
    return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED, "a launch of more than 2^32 - 1 groups");
  const ze_group_count_t groups = {(uint32_t)launch->groups[0], (uint32_t)launch->groups[1], 1};
  pthread_mutex_lock(&kernel->lock);
  ze_result_t result = set_arguments(kernel, launch);
  kw_status status = KW_OK;
  if (result == ZE_RESULT_SUCCESS) {
    lz_command command = lz_stream_begin(stream, NULL);
    if (command.result == ZE_RESULT_SUCCESS)
      command.result = ze.CommandListAppendLaunchKernel(command.list, kernel->handle, &groups, command.signal,
                                                        command.wait_count, command.waits);
    lz_activity_note(stream, &command, KW_ACTIVITY_LAUNCH, launch->call_id);
    status = lz_stream_end(stream, &command, launch->call_id, "zeCommandListAppendLaunchKernel");
  } else {
    status = lz_check(device, result, "zeKernelSetArgumentValue");
  }
  pthread_mutex_unlock(&kernel->lock);
  return status;
}

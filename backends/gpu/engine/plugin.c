/* SPDX-License-Identifier: Apache-2.0
 *
 * A device on the execution engine with no driver between: plugin "engine", for tests. Memory is the host's.
 */
#include "engine.h"

#include <keyway/gpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the engine answered, for the host. */
static kw_status answer(const kw_host_api *host, kw_engine_status status) {
  static const kw_status statuses[] = {
      [KW_ENGINE_OK] = KW_OK,
      [KW_ENGINE_NOT_READY] = KW_ERR_NOT_READY,
      [KW_ENGINE_OUT_OF_MEMORY] = KW_ERR_OUT_OF_MEMORY,
      [KW_ENGINE_INVALID] = KW_ERR_INTERNAL,
      [KW_ENGINE_REFUSED] = KW_ERR_INTERNAL,
      [KW_ENGINE_FAILED] = KW_ERR_INTERNAL,
      [KW_ENGINE_LOST] = KW_ERR_DEVICE_LOST,
  };
  return status == KW_ENGINE_OK ? KW_OK : host->set_error(host->ctx, statuses[status], kw_engine_message());
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static kw_status module_load(kw_gpu_device *device, const char *name, const void *bytes, size_t size,
                             void **out_module) {
  kw_engine_module *module = NULL;
  (void)name;
  kw_engine_status status = kw_engine_module_load(bytes, size, &module);
  *out_module = module;
  return answer(device->host, status);
}

static kw_status module_build(kw_gpu_device *device, const char *name, const char *const *sources,
                              uint32_t source_count, void **out_module) {
  void *bytes = NULL;
  size_t size = 0;
  kw_status status = answer(device->host, kw_engine_compile(sources, source_count, &bytes, &size));
  if (status == KW_OK) status = module_load(device, name, bytes, size, out_module);
  free(bytes);
  return status;
}

static void module_destroy(kw_gpu_device *device, void *module) {
  (void)device;
  kw_engine_module_unload(module);
}

static kw_status module_save(kw_gpu_device *device, void *module, void **out_bytes, size_t *out_size) {
  const void *bytes = kw_engine_module_bytes(module, out_size);
  *out_bytes = malloc(*out_size);
  if (!*out_bytes) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a module's bytes");
  memcpy(*out_bytes, bytes, *out_size);
  return KW_OK;
}

static kw_status kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel) {
  kw_engine_kernel *kernel = malloc(sizeof *kernel);
  if (!kernel) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a kernel");
  kw_status status = answer(device->host, kw_engine_kernel_find(module, name, kernel));
  if (status == KW_OK) {
    *out_kernel = kernel;
  } else {
    free(kernel);
  }
  return status;
}

static void kernel_destroy(kw_gpu_device *device, void *kernel) {
  (void)device;
  free(kernel);
}

static kw_status launch(kw_gpu_device *device, kw_gpu_stream *stream, const kw_gpu_launch *launch) {
  kw_engine_task task = {.kind = KW_ENGINE_LAUNCH};
  kw_engine_launch *to = &task.u.launch;
  to->kernel = launch->kernel;
  to->local[2] = 1;
  to->groups[2] = 1;
  memcpy(to->local, launch->local, sizeof launch->local);
  memcpy(to->groups, launch->groups, sizeof launch->groups);
  bool fits = true;
  for (uint32_t i = 0; i < launch->arg_count; ++i) {
    const kw_gpu_arg *arg = &launch->args[i];
    fits &= arg->data ? kw_engine_launch_add(to, arg->data, arg->size)
                      : kw_engine_launch_add(to, &arg->mem, sizeof arg->mem);
  }
  if (!fits) return kw_gpu_error(device->host, KW_ERR_INTERNAL, "too many arguments for the engine");
  return answer(device->host, kw_engine_queue_push(stream->handle, &task));
}

/* ---- Memory: a kw_mem is an address ------------------------------------------------------------------------------ */

static kw_status mem_alloc(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem) {
  void *base = NULL;
  kw_engine_status status = kw_engine_alloc(device->physical.id, KW_ENGINE_MEMORY_DEVICE, info->size, 0, &base);
  *out_mem = base;
  return answer(device->host, status);
}

static kw_status mem_free(kw_gpu_device *device, kw_mem mem, kw_mem_kind kind) {
  (void)kind;
  return answer(device->host, kw_engine_free(mem));
}

static kw_status mem_copy(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *copy) {
  const kw_engine_task task = {
      .kind = KW_ENGINE_COPY,
      .u.copy = {.to = kw_gpu_copy_to(copy), .from = kw_gpu_copy_from(copy), .size = copy->size}};
  return answer(device->host, kw_engine_queue_push(stream->handle, &task));
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static kw_status stream_create(kw_gpu_stream *stream, uint64_t flags) {
  kw_engine_queue *queue = NULL;
  (void)flags;
  kw_engine_status status = kw_engine_queue_create(stream->device->physical.id, &queue);
  stream->handle = queue;
  return answer(stream->device->host, status);
}

static kw_status stream_synchronize(kw_gpu_stream *stream, uint64_t timeout_ns) {
  kw_engine_status status = kw_engine_queue_wait(stream->handle, timeout_ns);
  return status == KW_ENGINE_NOT_READY ? KW_ERR_TIMEOUT : answer(stream->device->host, status);
}

static kw_status stream_destroy(kw_gpu_stream *stream) {
  kw_engine_queue_destroy(stream->handle);
  return KW_OK;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static kw_status find(const kw_host_api *host, kw_gpu_list *list) {
  kw_status status = KW_OK;
  (void)host;
  for (uint32_t i = 0; i < kw_engine_device_count() && status == KW_OK; ++i)
    status = kw_gpu_list_add(list, NULL, kw_engine_device_get(i));
  return status;
}

static kw_status describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info) {
  (void)host, (void)physical;
  out_info->type = KW_DEVICE_OTHER;
  out_info->flags = KW_DEVICE_EMULATED;
  out_info->compute_units = 1;
  strcpy(out_info->name, "execution engine");
  out_info->total_memory = KW_ENGINE_DEVICE_MEMORY;
  out_info->mem_alignment = 256;
  out_info->offset_alignment = 64;
  return KW_OK;
}

static void identify(const kw_gpu_physical *physical, char *out, size_t size) {
  (void)physical;
  snprintf(out, size, "%s", kw_engine_compiler());
}

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

static const kw_gpu_driver driver = {
    .key = "engine",
    .vendor = "keyway",
    .version = "0",
    .description = "The portable kernels, compiled by the host's C++ compiler and run on the CPU; for tests",
    .build = __VERSION__,
    .sanitizer = KW_GPU_SANITIZER,
    .find = find,
    .describe = describe,
    .identify = identify,
    .alloc = mem_alloc,
    .dealloc = mem_free,
    .copy = mem_copy,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .prelude = kw_engine_prelude,
    .module_build = module_build,
    .module_destroy = module_destroy,
    .module_save = module_save,
    .module_load = module_load,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .launch = launch,
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_gpu_query(&driver, host, out_plugin, out_reason);
}

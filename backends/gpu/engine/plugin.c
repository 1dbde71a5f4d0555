/* SPDX-License-Identifier: Apache-2.0
 *
 * A device on the execution engine with no driver between: plugin "engine", for tests. Memory is the host's.
 */
#include "engine.h"

#include <keyway/gpu.h>
#include <stdlib.h>
#include <string.h>

typedef struct engine_device {
  kw_gpu_device base; /* first: the pack hands it back */
  kw_engine_device *device;
} engine_device;

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

static kw_status out_of_memory(const kw_host_api *host, const char *what) {
  return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, what);
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
  if (!*out_bytes) return out_of_memory(device->host, "no host memory for a module's bytes");
  memcpy(*out_bytes, bytes, *out_size);
  return KW_OK;
}

static kw_status kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel) {
  kw_engine_kernel *kernel = malloc(sizeof *kernel);
  if (!kernel) return out_of_memory(device->host, "no host memory for a kernel");
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

static kw_status launch(kw_gpu_device *device, void *stream, const kw_gpu_launch *launch) {
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
  if (!fits) return device->host->set_error(device->host->ctx, KW_ERR_INTERNAL, "too many arguments for the engine");
  return answer(device->host, kw_engine_queue_push(stream, &task));
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  const engine_device *device = state;
  void *base = NULL;
  kw_engine_status status = kw_engine_alloc(device->device, KW_ENGINE_MEMORY_DEVICE, info->size, 0, &base);
  *out_mem = base;
  return answer(device->base.host, status);
}

static kw_status mem_free(void *state, kw_mem mem) {
  return answer(((engine_device *)state)->base.host, kw_engine_free(mem));
}

static kw_status mem_copy(void *state, void *stream, const kw_copy_info *copy) {
  const kw_host_api *host = ((engine_device *)state)->base.host;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE)
    return host->set_error(host->ctx, KW_ERR_UNSUPPORTED, "the engine copies between host and device only");
  const kw_engine_task task = {
      .kind = KW_ENGINE_COPY,
      .u.copy = {
          .to = copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset,
          .from = copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (char *)copy->src_mem + copy->src_offset,
          .size = copy->size}};
  return answer(host, kw_engine_queue_push(stream, &task));
}

static const kw_memory_api memory_api = {
    .struct_size = sizeof memory_api, .alloc = mem_alloc, .free = mem_free, .copy = mem_copy};

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  const engine_device *device = state;
  kw_engine_queue *queue = NULL;
  (void)info;
  kw_engine_status status = kw_engine_queue_create(device->device, &queue);
  *out_stream = queue;
  return answer(device->base.host, status);
}

static kw_status stream_synchronize(void *state, void *stream) {
  return answer(((engine_device *)state)->base.host, kw_engine_queue_wait(stream, KW_ENGINE_FOREVER));
}

static kw_status stream_destroy(void *state, void *stream) {
  (void)state;
  kw_engine_queue_destroy(stream);
  return KW_OK;
}

static const kw_stream_api stream_api = {.struct_size = sizeof stream_api,
                                         .create = stream_create,
                                         .destroy = stream_destroy,
                                         .synchronize = stream_synchronize};

/* ---- The device and the plugin ----------------------------------------------------------------------------------- */

static const kw_gpu_driver driver = {
    .prelude = kw_engine_prelude,
    .module_build = module_build,
    .module_destroy = module_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .launch = launch,
    .memory = &memory_api,
    .module_save = module_save,
    .module_load = module_load,
};

static kw_status device_count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = kw_engine_device_count();
  return KW_OK;
}

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin, (void)index;
  out_info->type = KW_DEVICE_OTHER;
  out_info->flags = KW_DEVICE_EMULATED;
  out_info->compute_units = 1;
  strcpy(out_info->name, "execution engine");
  out_info->total_memory = KW_ENGINE_DEVICE_MEMORY;
  out_info->mem_alignment = 256;
  out_info->offset_alignment = 64;
  return KW_OK;
}

static kw_status device_open(void *plugin, uint32_t index, void **out_device) {
  const kw_host_api *host = *(const kw_host_api **)plugin;
  engine_device *device = calloc(1, sizeof *device);
  if (!device) return out_of_memory(host, "no host memory for a device");
  device->device = kw_engine_device_get(index);
  kw_status status = kw_gpu_device_start(&device->base, &driver, host, true, kw_engine_compiler());
  if (status == KW_OK) {
    *out_device = device;
  } else {
    free(device);
  }
  return status;
}

static kw_status device_close(void *device) {
  kw_gpu_device_finish(device);
  free(device);
  return KW_OK;
}

static const kw_device_api device_api = {.struct_size = sizeof device_api,
                                         .count = device_count,
                                         .info = device_info,
                                         .open = device_open,
                                         .close = device_close};

static kw_status probe(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}

static kw_status init(const kw_host_api *host, void **out_plugin) {
  const kw_host_api **plugin = malloc(sizeof *plugin);
  if (!plugin) return out_of_memory(host, "no host memory for the engine");
  *plugin = host;
  *out_plugin = plugin;
  return kw_gpu_register(host, true);
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
    .key = "engine",
    .vendor = "keyway",
    .version = "0",
    .description = "The portable kernels, compiled by the host's C++ compiler and run on the CPU; for tests",
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
    *out_reason = "the engine was built for another version of Keyway's ABI; rebuild it";
    return KW_ERR_ABI_MISMATCH;
  }
  *out_plugin = &desc;
  return KW_OK;
}

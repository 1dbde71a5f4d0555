/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "scalar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char kw_gpu_source_args[], kw_gpu_source_opcodes[], kw_gpu_source_base[], kw_gpu_source_dtype[],
    kw_gpu_source_index[];

void kw_gpu_device_start(kw_gpu_device *device, const kw_gpu_driver *driver, const kw_host_api *host, bool has_f64) {
  memset(device, 0, sizeof *device);
  device->driver = driver;
  device->host = host;
  device->has_f64 = has_f64;
  pthread_mutex_init(&device->lock, NULL);
}

void kw_gpu_device_finish(kw_gpu_device *device) {
  for (size_t i = 0; i < device->kernels.count; ++i)
    device->driver->kernel_destroy(device, device->kernels.items[i].handle);
  for (size_t i = 0; i < device->modules.count; ++i)
    device->driver->module_destroy(device, device->modules.items[i].handle);
  free(device->kernels.items);
  free(device->modules.items);
  pthread_mutex_destroy(&device->lock);
}

/* ---- The caches, under the device's lock ------------------------------------------------------------------------- */

static void *cache_find(const kw_gpu_cache *cache, const void *what, unsigned variant) {
  for (size_t i = 0; i < cache->count; ++i)
    if (cache->items[i].what == what && cache->items[i].variant == variant) return cache->items[i].handle;
  return NULL;
}

/* Room for one more; false when the host is out of memory. */
static bool cache_reserve(kw_gpu_cache *cache) {
  if (cache->count < cache->capacity) return true;
  size_t capacity = cache->capacity ? 2 * cache->capacity : 32;
  kw_gpu_built *items = realloc(cache->items, capacity * sizeof *items);
  if (!items) return false;
  cache->items = items;
  cache->capacity = capacity;
  return true;
}

static void *cache_add(kw_gpu_cache *cache, const void *what, unsigned variant, void *handle) {
  cache->items[cache->count++] = (kw_gpu_built){what, variant, handle};
  return handle;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static kw_status module_build(kw_gpu_device *device, const kw_gpu_module *module, unsigned variant, void **out_module) {
  char name[64], defines[96];
  const char *sources[16];
  uint32_t count = 0;
  snprintf(name, sizeof name, "%s/%u", module->name, variant);
  snprintf(defines, sizeof defines, "%s#define %s %u\n", device->has_f64 ? "#define KW_HAS_F64 1\n" : "",
           module->by == KW_GPU_BY_SIZE ? "KW_SIZE" : "KW_DTYPE", variant);
  sources[count++] = defines;
  sources[count++] = device->driver->prelude;
  sources[count++] = kw_gpu_source_base;
  sources[count++] = kw_gpu_source_args;
  sources[count++] = kw_gpu_source_opcodes;
  sources[count++] = kw_gpu_source_index;
  if (module->by == KW_GPU_BY_DTYPE) sources[count++] = kw_gpu_source_dtype;
  for (const char *const *source = module->sources; *source; ++source) sources[count++] = *source;
  return device->driver->module_build(device, name, sources, count, out_module);
}

static kw_status find_locked(kw_gpu_device *device, const kw_gpu_kernel *kernel, unsigned variant, void **out_kernel) {
  kw_status status = KW_OK;
  *out_kernel = cache_find(&device->kernels, kernel, variant);
  if (*out_kernel) return KW_OK;
  if (!cache_reserve(&device->modules) || !cache_reserve(&device->kernels))
    return device->host->set_error(device->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a kernel");
  void *module = cache_find(&device->modules, kernel->module, variant);
  if (!module) {
    status = module_build(device, kernel->module, variant, &module);
    if (status != KW_OK) return status;
    cache_add(&device->modules, kernel->module, variant, module);
  }
  status = device->driver->kernel_create(device, module, kernel->function, out_kernel);
  if (status == KW_OK) cache_add(&device->kernels, kernel, variant, *out_kernel);
  return status;
}

kw_status kw_gpu_kernel_find(kw_gpu_device *device, const kw_gpu_kernel *kernel, kw_dtype dtype, void **out_kernel) {
  unsigned variant = dtype;
  if (kernel->module->by == KW_GPU_BY_SIZE) variant = kw_gpu_dtype_size(dtype);
  if (kernel->module->by == KW_GPU_BY_NOTHING) variant = 0;
  pthread_mutex_lock(&device->lock);
  kw_status status = find_locked(device, kernel, variant, out_kernel);
  pthread_mutex_unlock(&device->lock);
  return status;
}

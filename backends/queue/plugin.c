/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin over a chip's driver: the answer to a query, devices and memory.
 */
#include "kit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STAGING_SIZE (UINT64_C(256) << 10)
#define STAGING_ALIGNMENT 64u

const kw_queue_driver *kw_queue_the_driver;
static kw_queue_driver driver_copy; /* the vendor's, with its defaults filled in */

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static kw_status mem_alloc(void *device_ptr, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_queue_device *device = device_ptr;
  kw_status status = kw_queue_check_critical(device->host, info->flags, info->next);
  if (status != KW_OK) return status;
  if (info->kind != KW_MEM_DEVICE)
    return kw_queue_fail(device->host, KW_ERR_UNSUPPORTED, "alloc: no memory of kind %u", (unsigned)info->kind);
  if (info->size == 0) return kw_queue_fail(device->host, KW_ERR_INVALID_ARGUMENT, "alloc: no bytes");
  return device->driver->alloc(device->chip, info->size, info->alignment, out_mem);
}

static kw_status mem_dealloc(void *device_ptr, kw_mem mem) {
  kw_queue_device *device = device_ptr;
  device->driver->dealloc(device->chip, mem);
  return KW_OK;
}

static kw_status mem_copy(void *device_ptr, void *stream, const kw_copy_info *copy) {
  const kw_queue_device *device = device_ptr;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE)
    return kw_queue_fail(device->host, KW_ERR_INVALID_ARGUMENT, "copy: no kind %u", (unsigned)copy->kind);
  kw_queue_command *command = kw_queue_command_make(stream,
                                                    copy->kind == KW_COPY_HOST_TO_DEVICE   ? KW_QUEUE_TO_DEVICE
                                                    : copy->kind == KW_COPY_DEVICE_TO_HOST ? KW_QUEUE_TO_HOST
                                                                                           : KW_QUEUE_COPY,
                                                    0);
  if (!command) return KW_ERR_OUT_OF_MEMORY;
  command->copy = *copy;
  return kw_queue_command_put(command);
}

const kw_memory_api kw_queue_memory_slots = {
    .struct_size = sizeof(kw_memory_api), .alloc = mem_alloc, .dealloc = mem_dealloc, .copy = mem_copy};

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* The plugin's state is the host's table. */
static kw_status device_count(void *plugin, uint32_t *out_count) {
  return kw_queue_the_driver->count(plugin, out_count);
}

static kw_status check_index(const kw_host_api *host, uint32_t index) {
  uint32_t count = 0;
  kw_status status = kw_queue_the_driver->count(host, &count);
  if (status != KW_OK || index < count) return status;
  return kw_queue_fail(host, KW_ERR_INVALID_ARGUMENT, "there is no device %u", (unsigned)index);
}

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_status status = check_index(plugin, index);
  return status == KW_OK ? kw_queue_the_driver->describe(plugin, index, out_info) : status;
}

static void free_staging(kw_queue_device *device) {
  for (uint32_t i = 0; i < KW_QUEUE_BLOCKS; ++i) {
    if (!device->blocks[i].memory) continue;
    if (device->driver->staging_free) {
      device->driver->staging_free(device->chip, device->blocks[i].memory);
    } else {
      free(device->blocks[i].memory);
    }
  }
}

static bool make_staging(kw_queue_device *device) {
  const uint64_t size = device->driver->staging_size;
  for (uint32_t i = 0; i < KW_QUEUE_BLOCKS; ++i) {
    device->blocks[i].memory = device->driver->staging_alloc ? device->driver->staging_alloc(device->chip, size)
                                                             : aligned_alloc(STAGING_ALIGNMENT, size);
    if (!device->blocks[i].memory) return false;
  }
  return true;
}

static void make_locks(kw_queue_device *device) {
  pthread_condattr_t monotonic; /* the limit of a wait is no time of day, which somebody may set */
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&device->lock, NULL);
  pthread_cond_init(&device->work, NULL);
  pthread_cond_init(&device->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  device->last_failed = &device->failed;
}

static void free_device(kw_queue_device *device) {
  free_staging(device);
  if (device->chip) device->driver->close(device->chip);
  pthread_cond_destroy(&device->changed);
  pthread_cond_destroy(&device->work);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

static kw_status device_open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_host_api *host = plugin;
  kw_status status = kw_queue_check_critical(host, 0, info->next);
  if (status == KW_OK) status = check_index(host, index);
  if (status != KW_OK) return status;
  kw_queue_device *device = calloc(1, sizeof *device);
  if (!device) return kw_queue_fail(host, KW_ERR_OUT_OF_MEMORY, "open: no host memory");
  device->driver = kw_queue_the_driver;
  device->host = host;
  make_locks(device);
  status = device->driver->open(host, index, &device->chip);
  if (status == KW_OK && !make_staging(device))
    status = kw_queue_fail(host, KW_ERR_OUT_OF_MEMORY, "open: no memory for staging");
  if (status == KW_OK && kw_queue_start_thread(&device->engine, kw_queue_engine_main, device) != 0)
    status = kw_queue_fail(host, KW_ERR_OUT_OF_MEMORY, "open: no thread");
  if (status != KW_OK) {
    free_device(device);
    return status;
  }
  *out_device = device;
  return KW_OK;
}

/* No stream is left. */
static kw_status device_close(void *device_ptr) {
  kw_queue_device *device = device_ptr;
  pthread_mutex_lock(&device->lock);
  device->closing = true;
  pthread_cond_signal(&device->work);
  pthread_mutex_unlock(&device->lock);
  pthread_join(device->engine, NULL);
  free_device(device);
  return KW_OK;
}

const kw_device_api kw_queue_device_slots = {.struct_size = sizeof(kw_device_api),
                                             .count = device_count,
                                             .info = device_info,
                                             .open = device_open,
                                             .close = device_close};

/* ---- The answer to a query --------------------------------------------------------------------------------------- */

static kw_status probe(const char **out_reason) {
  return kw_queue_the_driver->probe ? kw_queue_the_driver->probe(out_reason) : KW_OK;
}

static kw_status init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_status status = kw_queue_check_critical(host, 0, info->next);
  if (status == KW_OK && kw_queue_the_driver->register_kernels) status = kw_queue_the_driver->register_kernels(host);
  if (status == KW_OK) *out_plugin = (void *)(uintptr_t)host;
  return status;
}

static kw_status shutdown(void *plugin) {
  (void)plugin;
  return KW_OK;
}

static const kw_group groups[] = {{KW_GROUP_DEVICE, &kw_queue_device_slots},
                                  {KW_GROUP_MEMORY, &kw_queue_memory_slots},
                                  {KW_GROUP_STREAM, &kw_queue_stream_slots},
                                  {KW_GROUP_EVENT, &kw_queue_event_slots}};
static kw_plugin_desc desc;
static pthread_mutex_t answer_lock = PTHREAD_MUTEX_INITIALIZER;

static void make_answer(const kw_queue_driver *driver) {
  driver_copy = *driver;
  if (driver_copy.staging_size == 0) driver_copy.staging_size = STAGING_SIZE;
  driver_copy.staging_size = (driver_copy.staging_size + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
  kw_queue_the_driver = &driver_copy;
  desc = (kw_plugin_desc){.struct_size = sizeof desc,
                          .abi_version = KW_ABI_VERSION,
                          .key = driver->key,
                          .vendor = driver->vendor,
                          .version = driver->version,
                          .description = driver->description,
                          .build = driver->build,
                          .sanitizer = driver->sanitizer,
                          .probe = probe,
                          .init = init,
                          .shutdown = shutdown,
                          .groups = groups,
                          .group_count = sizeof groups / sizeof *groups};
}

/* Why a driver's table cannot work; NULL: it can. */
static const char *find_fault(const kw_queue_driver *driver) {
  if (!driver->key || !driver->vendor || !driver->version || !driver->description || !driver->build ||
      !driver->sanitizer)
    return "kw_queue_driver: key, vendor, version, description, build or sanitizer is NULL";
  if (driver->queues == 0 || driver->queues > KW_QUEUE_LIMIT)
    return "kw_queue_driver: queues is not from 1 to KW_QUEUE_LIMIT";
  if (!driver->count || !driver->describe || !driver->open || !driver->close)
    return "kw_queue_driver: count, describe, open or close is NULL";
  if (!driver->alloc || !driver->dealloc) return "kw_queue_driver: alloc or dealloc is NULL";
  if (!driver->staging_alloc != !driver->staging_free)
    return "kw_queue_driver: of staging_alloc and staging_free there is one without the other";
  return driver->submit && driver->copy && driver->done ? NULL : "kw_queue_driver: submit, copy or done is NULL";
}

kw_status kw_queue_query(const kw_queue_driver *driver, const kw_query_info *host, const kw_plugin_desc **out_plugin,
                         const char **out_reason) {
  *out_reason = find_fault(driver);
  if (*out_reason) return KW_ERR_INVALID_ARGUMENT;
  pthread_mutex_lock(&answer_lock);
  if (!kw_queue_the_driver) make_answer(driver);
  pthread_mutex_unlock(&answer_lock);
  return kw_query_answer(host, &desc, out_plugin, out_reason);
}

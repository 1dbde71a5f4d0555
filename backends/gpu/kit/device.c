/* SPDX-License-Identifier: Apache-2.0
 *
 * The device group over a driver's functions: the list of physical devices, their opening and closing.
 */
#include "kit/device.h"

#include "kit/activity.h"
#include "kit/memory.h"
#include "kit/process.h"

#include <stdlib.h>

/* ---- The list ---------------------------------------------------------------------------------------------------- */

kw_status kw_gpu_list_add(kw_gpu_list *list, void *owner, void *id) {
  kw_gpu_physical *items = realloc(list->items, (list->count + 1) * sizeof *items);
  if (!items) return kw_gpu_error(list->host, KW_ERR_OUT_OF_MEMORY, "no host memory for the list of devices");
  list->items = items;
  items[list->count++] = (kw_gpu_physical){owner, id};
  return KW_OK;
}

const char *kw_gpu_list_option(const kw_gpu_list *list, const kw_option_desc *option) {
  return kw_option_value(list->info->options, list->info->option_count, option);
}

kw_status kw_gpu_devices_find(kw_gpu_plugin *plugin) {
  kw_gpu_process before;
  kw_gpu_process_take(&before);
  kw_status status = plugin->driver->find(plugin->host, &plugin->list);
  kw_gpu_process_set_back(&before);
  return status;
}

bool kw_gpu_has_f64(const kw_gpu_driver *driver, const kw_gpu_physical *physical) {
  return !driver->has_f64 || driver->has_f64(physical);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status device_count(void *state, uint32_t *out_count) {
  *out_count = ((const kw_gpu_plugin *)state)->list.count;
  return KW_OK;
}

static kw_status device_info(void *state, uint32_t index, kw_device_info *out_info) {
  const kw_gpu_plugin *plugin = state;
  return plugin->driver->describe(plugin->host, &plugin->list.items[index], out_info);
}

static kw_status device_attribute(void *state, uint32_t index, const char *key, kw_attribute *out_value) {
  const kw_gpu_plugin *plugin = state;
  const kw_gpu_driver *driver = plugin->driver;
  const kw_gpu_physical *physical = &plugin->list.items[index];
  kw_device_info info = {.struct_size = sizeof info};
  kw_status status = KW_ERR_NOT_FOUND;
  if (driver->attribute) status = driver->attribute(plugin->host, physical, key, out_value);
  if (status == KW_ERR_NOT_FOUND && driver->describe(plugin->host, physical, &info) == KW_OK)
    status = kw_gpu_bus_attribute(info.parent_id[0] ? info.parent_id : info.stable_id, key, out_value);
  if (status != KW_ERR_NOT_FOUND) return status;
  return kw_gpu_error(plugin->host, status, "%s does not tell '%.100s' of this device", driver->description, key);
}

static const kw_option_desc module_cache = {
    .struct_size = sizeof module_cache,
    .place = KW_OPTION_OPEN,
    .key = "module_cache",
    .value = "1",
    .text = "whether what was compiled is kept on disk, see KEYWAY_MODULE_CACHE, for later processes: 1 or 0",
};
const kw_option_desc *const kw_gpu_options[] = {&module_cache};

static kw_status read_options(const kw_gpu_plugin *plugin, const kw_open_info *info, bool *out_keeps_modules) {
  const char *value = kw_option_value(info->options, info->option_count, &module_cache);
  uint64_t number;
  if (!kw_option_number(value, 0, 1, &number)) {
    return kw_gpu_error(plugin->host, KW_ERR_INVALID_ARGUMENT, "the option module_cache is '%.100s': 0 or 1", value);
  }
  *out_keeps_modules = number;
  return KW_OK;
}

static void discard(kw_gpu_device *device) {
  kw_gpu_activity_finish(device);
  kw_gpu_device_finish(device);
  pthread_mutex_destroy(&device->memories_lock);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

static kw_status device_open(void *state, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_gpu_plugin *plugin = state;
  kw_status status = kw_gpu_check_critical(plugin->host, 0, info->next);
  if (status != KW_OK) return status;
  const kw_gpu_driver *driver = plugin->driver;
  const kw_gpu_physical *physical = &plugin->list.items[index];
  char identity[400] = "";
  bool keeps_modules = true;
  status = read_options(plugin, info, &keeps_modules);
  if (status != KW_OK) return status;
  kw_gpu_device *device = calloc(1, driver->device_size > sizeof *device ? driver->device_size : sizeof *device);
  if (!device) return kw_gpu_error(plugin->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a device");
  if (driver->identify && keeps_modules) driver->identify(physical, identity, sizeof identity);
  status = kw_gpu_device_start(device, driver, plugin->host, kw_gpu_has_f64(driver, physical),
                               identity[0] ? identity : NULL);
  if (status != KW_OK) {
    free(device);
    return status;
  }
  device->physical = *physical;
  pthread_mutex_init(&device->lock, NULL);
  pthread_mutex_init(&device->memories_lock, NULL);
  status = kw_gpu_activity_start(device);
  if (status == KW_OK && driver->open) {
    kw_gpu_process before;
    kw_gpu_process_take(&before);
    status = driver->open(device, info);
    kw_gpu_process_set_back(&before);
  }
  if (status == KW_OK) {
    *out_device = device;
  } else {
    discard(device);
  }
  return status;
}

/* Kernels and modules go while the runtime's part of the device still stands. */
static kw_status device_close(void *state) {
  kw_gpu_device *device = state;
  const kw_gpu_driver *driver = device->driver;
  kw_gpu_activity_finish(device);
  kw_gpu_device_finish(device);
  kw_status status = driver->close ? driver->close(device) : KW_OK;
  kw_gpu_memory_finish(device);
  pthread_mutex_destroy(&device->memories_lock);
  pthread_mutex_destroy(&device->lock);
  free(device);
  return status;
}

const kw_device_api kw_gpu_device_slots = {
    .struct_size = sizeof kw_gpu_device_slots,
    .count = device_count,
    .info = device_info,
    .open = device_open,
    .close = device_close,
    .attribute = device_attribute,
};

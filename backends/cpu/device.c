/* SPDX-License-Identifier: Apache-2.0
 *
 * The one device, index 0.
 */
#include "cpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t kw_cpu_physical_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static kw_status device_count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 1;
  return KW_OK;
}

static kw_status refuse_index(void *plugin, uint32_t index) {
  const kw_host_api *host = ((kw_cpu_plugin *)plugin)->host;
  return kw_cpu_error(host, KW_ERR_NOT_FOUND, "there is no cpu device %u; the only one is 0", index);
}

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  if (index != 0) return refuse_index(plugin, index);
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  out_info->type = KW_DEVICE_CPU;
  out_info->compute_units = processors > 0 ? (uint32_t)processors : 0;
  kw_cpu_describe("/proc/cpuinfo", out_info);
  out_info->total_memory = kw_cpu_physical_memory();
  out_info->mem_alignment = KW_CPU_ALIGNMENT;
  out_info->offset_alignment = KW_CPU_ALIGNMENT;
  return KW_OK;
}

static kw_status device_attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  static const struct {
    const char *key;
    kw_attribute value;
  } known[] = {{"unified_memory", {.type = KW_ATTRIBUTE_BOOL, .u.b = true}},
               {"dlpack_device_type", {.type = KW_ATTRIBUTE_INT, .u.i = 1}}, /* kDLCPU */
               {"dlpack_device_id", {.type = KW_ATTRIBUTE_INT, .u.i = 0}}};
  if (index != 0) return refuse_index(plugin, index);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(known[i].key, key) != 0) continue;
    out_value->type = known[i].value.type;
    out_value->u = known[i].value.u;
    return KW_OK;
  }
  return kw_cpu_error(((kw_cpu_plugin *)plugin)->host, KW_ERR_NOT_FOUND, "the cpu has no attribute '%s'", key);
}

static const kw_option_desc memory_limit = {
    .struct_size = sizeof memory_limit,
    .place = KW_OPTION_OPEN,
    .key = "memory_limit",
    .value = "0",
    .text = "bytes that tensors may take in all; 0: what the machine has",
};
const kw_option_desc *const kw_cpu_options[] = {&memory_limit};

/* Bytes that the device may hand out. */
static kw_status read_options(const kw_host_api *host, const kw_open_info *info, uint64_t *out_total) {
  const char *value = kw_option_value(info->options, info->option_count, &memory_limit);
  const uint64_t physical = kw_cpu_physical_memory();
  uint64_t limit;
  if (!kw_option_number(value, 0, UINT64_MAX, &limit)) {
    return kw_cpu_error(host, KW_ERR_INVALID_ARGUMENT, "the option memory_limit is '%.100s': a number of bytes", value);
  }
  *out_total = limit == 0 || limit > physical ? physical : limit;
  return KW_OK;
}

static kw_status device_open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_host_api *host = ((kw_cpu_plugin *)plugin)->host;
  if (index != 0) return refuse_index(plugin, index);
  kw_status status = kw_cpu_check_critical(host, 0, info->next);
  if (status != KW_OK) return status;
  uint64_t total = 0;
  status = read_options(host, info, &total);
  if (status != KW_OK) return status;
  kw_cpu_device *device = malloc(sizeof *device);
  if (device) device->activity = kw_cpu_activity_create();
  if (!device || !device->activity) {
    free(device);
    return kw_cpu_error(host, KW_ERR_OUT_OF_MEMORY, "no host memory for the device's state");
  }
  device->host = host;
  device->total = total;
  atomic_init(&device->held, 0);
  pthread_mutex_init(&device->imports_lock, NULL);
  device->imports = NULL;
  *out_device = device;
  return KW_OK;
}

static kw_status device_close(void *state) {
  kw_cpu_device *device = state;
  kw_cpu_activity_free(device->activity);
  pthread_mutex_destroy(&device->imports_lock);
  free(device);
  return KW_OK;
}

const kw_device_api kw_cpu_device_api = {
    .struct_size = sizeof(kw_device_api),
    .count = device_count,
    .info = device_info,
    .open = device_open,
    .close = device_close,
    .attribute = device_attribute,
};

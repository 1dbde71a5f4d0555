/* SPDX-License-Identifier: Apache-2.0 */
#include "levelzero.h"

#include "spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kw_gpu_driver driver = {
    .module_build = lz_module_build,
    .module_destroy = lz_module_destroy,
    .kernel_create = lz_kernel_create,
    .kernel_destroy = lz_kernel_destroy,
    .launch = lz_launch,
    .memory = &lz_memory_api,
    .module_save = lz_module_save,
    .module_load = lz_module_load,
    .prelude = kw_gpu_prelude_opencl,
};

kw_status lz_devices_find(lz_plugin *plugin) {
  ze_driver_handle_t drivers[16];
  uint32_t driver_count = sizeof drivers / sizeof drivers[0];
  if (ze.DriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS) return KW_OK;
  for (uint32_t p = 0; p < driver_count; ++p) {
    ze_device_handle_t ids[64];
    uint32_t count = sizeof ids / sizeof ids[0];
    if (ze.DeviceGet(drivers[p], &count, ids) != ZE_RESULT_SUCCESS || count == 0) continue;
    lz_entry *entries = realloc(plugin->entries, (plugin->count + count) * sizeof *entries);
    if (!entries)
      return plugin->host->set_error(plugin->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for the device list");
    plugin->entries = entries;
    for (uint32_t d = 0; d < count; ++d) entries[plugin->count++] = (lz_entry){drivers[p], ids[d]};
  }
  return KW_OK;
}

static kw_status device_count(void *plugin, uint32_t *out_count) {
  *out_count = ((lz_plugin *)plugin)->count;
  return KW_OK;
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

static ze_device_properties_t device_properties(const lz_entry *entry) {
  ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
  ze.DeviceGetProperties(entry->id, &properties);
  return properties;
}

static ze_device_module_properties_t module_properties(const lz_entry *entry) {
  ze_device_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
  ze.DeviceGetModuleProperties(entry->id, &properties);
  return properties;
}

static uint32_t driver_version(const lz_entry *entry) {
  ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
  ze.DriverGetProperties(entry->driver, &properties);
  return properties.driverVersion;
}

static kw_device_type device_type(ze_device_type_t type) {
  switch (type) {
    case ZE_DEVICE_TYPE_GPU:
      return KW_DEVICE_GPU;
    case ZE_DEVICE_TYPE_CPU:
      return KW_DEVICE_CPU;
    case ZE_DEVICE_TYPE_FPGA:
      return KW_DEVICE_FPGA;
    case ZE_DEVICE_TYPE_VPU:
      return KW_DEVICE_NPU;
    default:
      return KW_DEVICE_OTHER;
  }
}

static void stable_id(const lz_entry *entry, const ze_device_properties_t *properties, char *out, size_t size) {
  ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
  if (ze.DevicePciGetPropertiesExt(entry->id, &pci) == ZE_RESULT_SUCCESS) {
    kw_gpu_id_pci(out, size, pci.address.domain, pci.address.bus, pci.address.device, pci.address.function);
  } else {
    kw_gpu_id_uuid(out, size, properties->uuid.id);
  }
}

static uint64_t total_memory(const lz_entry *entry) {
  ze_device_memory_properties_t memories[16];
  uint32_t count = sizeof memories / sizeof memories[0];
  uint64_t total = 0;
  memset(memories, 0, sizeof memories);
  for (uint32_t i = 0; i < count; ++i) memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  if (ze.DeviceGetMemoryProperties(entry->id, &count, memories) != ZE_RESULT_SUCCESS) return 0;
  for (uint32_t i = 0; i < count; ++i) total += memories[i].totalSize;
  return total;
}

static kw_dtype_mask flushed_dtypes(const ze_device_module_properties_t *module) {
  kw_dtype_mask mask = {{0, 0}};
  const uint64_t computed_in_f32 = KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_BF16);
  if (!(module->fp32flags & ZE_DEVICE_FP_FLAG_DENORM)) mask.bits[0] |= computed_in_f32;
  if ((module->flags & ZE_DEVICE_MODULE_FLAG_FP64) && !(module->fp64flags & ZE_DEVICE_FP_FLAG_DENORM))
    mask.bits[0] |= KW_DTYPE_BIT(KW_F64);
  return mask;
}

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  const lz_entry *entry = &((lz_plugin *)plugin)->entries[index];
  ze_device_properties_t device = device_properties(entry);
  ze_device_module_properties_t module = module_properties(entry);
  uint32_t version = driver_version(entry);
  out_info->type = device_type(device.type);
  out_info->compute_units = device.numSlices * device.numSubslicesPerSlice * device.numEUsPerSubslice;
  snprintf(out_info->name, sizeof out_info->name, "%.63s", device.name);
  out_info->flags = kw_gpu_device_flags(out_info->name);
  if (device.vendorId == 0x8086) strcpy(out_info->vendor, "Intel");
  snprintf(out_info->driver_version, sizeof out_info->driver_version, "%u.%u.%u", (unsigned)(version >> 24),
           (unsigned)(version >> 16 & 0xff), (unsigned)(version & 0xffff));
  stable_id(entry, &device, out_info->stable_id, sizeof out_info->stable_id);
  out_info->total_memory = total_memory(entry);
  out_info->max_alloc = device.maxMemAllocSize;
  out_info->mem_alignment = 256;
  out_info->offset_alignment = 64;
  out_info->flush_subnormal = flushed_dtypes(&module);
  return KW_OK;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* A group of queues that run kernels. */
static ze_result_t find_queues(lz_device *device) {
  ze_command_queue_group_properties_t groups[16];
  uint32_t count = sizeof groups / sizeof groups[0];
  memset(groups, 0, sizeof groups);
  for (uint32_t i = 0; i < count; ++i) groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  ze_result_t result = ze.DeviceGetCommandQueueGroupProperties(device->id, &count, groups);
  for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; ++i) {
    if (!(groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) || groups[i].numQueues == 0) continue;
    device->queue_ordinal = i;
    device->queue_count = groups[i].numQueues;
    return ZE_RESULT_SUCCESS;
  }
  return result == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE : result;
}

/* What a module built for the device depends on. */
static void identify(const lz_entry *entry, char *out, size_t size) {
  ze_device_properties_t device = device_properties(entry);
  snprintf(out, size, "Level Zero; %s; %x; driver %u; SPIR-V %s", device.name, (unsigned)device.deviceId,
           (unsigned)driver_version(entry), kw_gpu_spirv_sum);
}

static kw_status device_close(void *state) {
  lz_device *device = state;
  if (device->base.programs) kw_gpu_device_finish(&device->base);
  lz_events_finish(device);
  kw_status status = lz_check(device, ze.ContextDestroy(device->context), "zeContextDestroy");
  pthread_mutex_destroy(&device->lock);
  free(device);
  return status;
}

static kw_status device_open(void *state, uint32_t index, void **out_device) {
  const lz_plugin *plugin = state;
  const lz_entry *entry = &plugin->entries[index];
  const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  ze_device_properties_t properties = device_properties(entry);
  char identity[400];
  lz_device *device = calloc(1, sizeof *device);
  if (!device)
    return plugin->host->set_error(plugin->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a Level Zero device");
  device->base.host = plugin->host;
  device->driver = entry->driver;
  device->id = entry->id;
  device->cycles_per_second = properties.timerResolution;
  device->cycle_mask =
      properties.kernelTimestampValidBits >= 64 ? UINT64_MAX : (UINT64_C(1) << properties.kernelTimestampValidBits) - 1;
  ze_result_t result = ze.ContextCreate(entry->driver, &context, &device->context);
  if (result != ZE_RESULT_SUCCESS) {
    kw_status status = lz_check(device, result, "zeContextCreate");
    free(device);
    return status;
  }
  pthread_mutex_init(&device->lock, NULL);
  identify(entry, identity, sizeof identity);
  result = find_queues(device);
  kw_status status =
      result == ZE_RESULT_SUCCESS
          ? kw_gpu_device_start(&device->base, &driver, plugin->host,
                                (module_properties(entry).flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0, identity)
          : lz_check(device, result, "finding queues that compute");
  if (status == KW_OK) {
    *out_device = device;
  } else {
    device_close(device);
  }
  return status;
}

const kw_device_api lz_device_api = {
    .struct_size = sizeof lz_device_api,
    .count = device_count,
    .info = device_info,
    .open = device_open,
    .close = device_close,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: found, described, opened and closed.
 */
#include "levelzero.h"

#include "spirv.h"

#include <stdio.h>
#include <string.h>

kw_status lz_find(const kw_host_api *host, kw_gpu_list *list) {
  ze_driver_handle_t drivers[16];
  uint32_t driver_count = sizeof drivers / sizeof drivers[0];
  const char *reason;
  kw_status status = lz_load(&reason);
  if (status != KW_OK) return kw_gpu_error(host, status, "%s", reason);
  if (ze.DriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS) return KW_OK;
  for (uint32_t p = 0; p < driver_count; ++p) {
    ze_device_handle_t ids[64];
    uint32_t count = sizeof ids / sizeof ids[0];
    if (ze.DeviceGet(drivers[p], &count, ids) != ZE_RESULT_SUCCESS) continue;
    for (uint32_t d = 0; d < count && status == KW_OK; ++d) status = kw_gpu_list_add(list, drivers[p], ids[d]);
  }
  return status;
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

static ze_device_properties_t device_properties(const kw_gpu_physical *physical) {
  ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
  ze.DeviceGetProperties(physical->id, &properties);
  return properties;
}

static ze_device_module_properties_t module_properties(const kw_gpu_physical *physical) {
  ze_device_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
  ze.DeviceGetModuleProperties(physical->id, &properties);
  return properties;
}

static uint32_t driver_version(const kw_gpu_physical *physical) {
  ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
  ze.DriverGetProperties(physical->owner, &properties);
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

static void stable_id(const kw_gpu_physical *physical, const ze_device_properties_t *properties, char *out,
                      size_t size) {
  ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
  if (ze.DevicePciGetPropertiesExt(physical->id, &pci) == ZE_RESULT_SUCCESS) {
    kw_gpu_id_pci(out, size, pci.address.domain, pci.address.bus, pci.address.device, pci.address.function);
  } else {
    kw_gpu_id_uuid(out, size, properties->uuid.id);
  }
}

/* The sum over the kinds of memory that the device has, and the fastest clock of them in MHz. */
static uint64_t total_memory(const kw_gpu_physical *physical, uint32_t *out_clock) {
  ze_device_memory_properties_t memories[16];
  uint32_t count = sizeof memories / sizeof memories[0];
  uint64_t total = 0;
  *out_clock = 0;
  memset(memories, 0, sizeof memories);
  for (uint32_t i = 0; i < count; ++i) memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  if (ze.DeviceGetMemoryProperties(physical->id, &count, memories) != ZE_RESULT_SUCCESS) return 0;
  for (uint32_t i = 0; i < count; ++i) {
    total += memories[i].totalSize;
    if (memories[i].maxClockRate > *out_clock) *out_clock = memories[i].maxClockRate;
  }
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

kw_status lz_describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info) {
  ze_device_properties_t device = device_properties(physical);
  ze_device_module_properties_t module = module_properties(physical);
  uint32_t version = driver_version(physical), clock;
  (void)host;
  out_info->type = device_type(device.type);
  out_info->compute_units = device.numSlices * device.numSubslicesPerSlice * device.numEUsPerSubslice;
  snprintf(out_info->name, sizeof out_info->name, "%.63s", device.name);
  out_info->flags = kw_gpu_device_flags(out_info->name);
  if (device.vendorId == 0x8086) strcpy(out_info->vendor, "Intel");
  snprintf(out_info->driver_version, sizeof out_info->driver_version, "%u.%u.%u", (unsigned)(version >> 24),
           (unsigned)(version >> 16 & 0xff), (unsigned)(version & 0xffff));
  stable_id(physical, &device, out_info->stable_id, sizeof out_info->stable_id);
  out_info->total_memory = total_memory(physical, &clock);
  out_info->max_alloc = device.maxMemAllocSize;
  out_info->mem_alignment = 256;
  out_info->offset_alignment = 64;
  out_info->flush_subnormal = flushed_dtypes(&module);
  return KW_OK;
}

kw_status lz_attribute(const kw_host_api *host, const kw_gpu_physical *physical, const char *key,
                       kw_attribute *out_value) {
  const ze_device_properties_t device = device_properties(physical);
  int64_t value = 0;
  (void)host;
  if (strcmp(key, "unified_memory") == 0)
    return kw_gpu_give_bool(out_value, (device.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0);
  if (strcmp(key, "core_clock_hz") == 0) value = (int64_t)device.coreClockRate * 1000000;
  if (strcmp(key, "memory_clock_hz") == 0) {
    uint32_t megahertz;
    total_memory(physical, &megahertz);
    value = (int64_t)megahertz * 1000000;
  }
  if (strcmp(key, "pci_vendor_id") == 0) value = device.vendorId;
  if (strcmp(key, "pci_device_id") == 0 && device.vendorId) value = device.deviceId;
  return value > 0 ? kw_gpu_give_int(out_value, value) : KW_ERR_NOT_FOUND;
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

bool lz_has_f64(const kw_gpu_physical *physical) {
  return (module_properties(physical).flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0;
}

void lz_identify(const kw_gpu_physical *physical, char *out, size_t size) {
  ze_device_properties_t device = device_properties(physical);
  snprintf(out, size, "Level Zero; %s; %x; driver %u; SPIR-V %s", device.name, (unsigned)device.deviceId,
           (unsigned)driver_version(physical), kw_gpu_spirv_sum);
}

static uint64_t mask_of(uint32_t bits) {
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

kw_status lz_open(kw_gpu_device *base, const kw_open_info *info) {
  (void)info;
  lz_device *device = (lz_device *)base;
  const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  ze_device_properties_t properties = device_properties(&base->physical);
  device->driver = base->physical.owner;
  device->id = base->physical.id;
  device->cycles_per_second = properties.timerResolution;
  device->cycle_mask = mask_of(properties.kernelTimestampValidBits);
  device->clock_mask = mask_of(properties.timestampValidBits);
  device->cycles = device->clock_mask + 1; /* before which other stamps find room */
  device->read_at = kw_gpu_now_ns();
  kw_status status = lz_check(device, find_queues(device), "finding queues that compute");
  if (status != KW_OK) return status;
  return lz_check(device, ze.ContextCreate(device->driver, &context, &device->context), "zeContextCreate");
}

kw_status lz_close(kw_gpu_device *base) {
  lz_device *device = (lz_device *)base;
  lz_events_finish(device);
  return lz_check(device, ze.ContextDestroy(device->context), "zeContextDestroy");
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: found, described, opened and closed.
 */
#include "opencl.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <string.h>

/* No platform and no device are not errors. */
kw_status ocl_find(const kw_host_api *host, kw_gpu_list *list) {
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  kw_status status = KW_OK;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return KW_OK;
  for (cl_uint p = 0; p < platform_count && p < 16; ++p) {
    cl_device_id ids[64];
    cl_uint count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, ids, &count) != CL_SUCCESS || count == 0) continue;
    if (!ocl_is_offered(host, platforms[p], kw_gpu_list_option(list, &ocl_offer))) continue;
    for (cl_uint d = 0; d < count && d < 64 && status == KW_OK; ++d)
      status = kw_gpu_list_add(list, platforms[p], ids[d]);
  }
  return status;
}

/* A text property, cut to fit; drivers pad their names with blanks. */
static void text_info(cl_device_id id, cl_device_info what, char *out, size_t size) {
  char text[512] = "";
  if (clGetDeviceInfo(id, what, sizeof text - 1, text, NULL) != CL_SUCCESS) text[0] = 0;
  char *begin = text;
  while (*begin == ' ') ++begin;
  snprintf(out, size, "%.*s", (int)size - 1, begin);
}

static uint64_t u64_info(cl_device_id id, cl_device_info what) {
  cl_ulong value = 0;
  clGetDeviceInfo(id, what, sizeof value, &value, NULL);
  return value;
}

static uint32_t u32_info(cl_device_id id, cl_device_info what) {
  cl_uint value = 0;
  clGetDeviceInfo(id, what, sizeof value, &value, NULL);
  return value;
}

static void stable_id(cl_device_id id, char *out, size_t size) {
  char extensions[8192] = "";
  clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
  if (strstr(extensions, "cl_khr_pci_bus_info")) {
    cl_device_pci_bus_info_khr bus;
    if (clGetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof bus, &bus, NULL) == CL_SUCCESS) {
      kw_gpu_id_pci(out, size, bus.pci_domain, bus.pci_bus, bus.pci_device, bus.pci_function);
      return;
    }
  }
  if (strstr(extensions, "cl_khr_device_uuid")) {
    cl_uchar uuid[CL_UUID_SIZE_KHR];
    if (clGetDeviceInfo(id, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, NULL) == CL_SUCCESS) kw_gpu_id_uuid(out, size, uuid);
  }
}

static kw_dtype_mask flushed_dtypes(cl_device_id id) {
  kw_dtype_mask mask = {{0, 0}};
  const uint64_t computed_in_f32 = KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_BF16);
  if (!(u64_info(id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_DENORM)) mask.bits[0] |= computed_in_f32;
  cl_device_fp_config f64 = u64_info(id, CL_DEVICE_DOUBLE_FP_CONFIG);
  if (f64 && !(f64 & CL_FP_DENORM)) mask.bits[0] |= KW_DTYPE_BIT(KW_F64);
  return mask;
}

kw_status ocl_describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info) {
  cl_device_id id = physical->id;
  cl_device_type type = u64_info(id, CL_DEVICE_TYPE);
  uint32_t alignment = u32_info(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  (void)host;
  out_info->type = type & CL_DEVICE_TYPE_CPU   ? KW_DEVICE_CPU
                   : type & CL_DEVICE_TYPE_GPU ? KW_DEVICE_GPU
                                               : KW_DEVICE_OTHER;
  out_info->compute_units = u32_info(id, CL_DEVICE_MAX_COMPUTE_UNITS);
  text_info(id, CL_DEVICE_NAME, out_info->name, sizeof out_info->name);
  text_info(id, CL_DEVICE_VENDOR, out_info->vendor, sizeof out_info->vendor);
  text_info(id, CL_DRIVER_VERSION, out_info->driver_version, sizeof out_info->driver_version);
  stable_id(id, out_info->stable_id, sizeof out_info->stable_id);
  out_info->total_memory = u64_info(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  out_info->max_alloc = u64_info(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out_info->mem_alignment = alignment < 64 ? 64 : alignment > 4096 ? 4096 : alignment;
  out_info->offset_alignment = 64;
  out_info->flush_subnormal = flushed_dtypes(id);
  return KW_OK;
}

kw_status ocl_attribute(const kw_host_api *host, const kw_gpu_physical *physical, const char *key,
                        kw_attribute *out_value) {
  cl_device_id id = physical->id;
  (void)host;
  if (strcmp(key, "dlpack_device_type") == 0) return kw_gpu_give_int(out_value, OCL_DLPACK_DEVICE);
  if (strcmp(key, "dlpack_device_id") == 0) return kw_gpu_give_int(out_value, 0);
  if (strcmp(key, "unified_memory") == 0) {
    cl_bool unified = CL_FALSE;
    if (clGetDeviceInfo(id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL) != CL_SUCCESS)
      return KW_ERR_NOT_FOUND;
    return kw_gpu_give_bool(out_value, unified);
  }
  if (strcmp(key, "core_clock_hz") == 0) {
    const int64_t megahertz = u32_info(id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    return megahertz ? kw_gpu_give_int(out_value, megahertz * 1000000) : KW_ERR_NOT_FOUND;
  }
  if (strcmp(key, "pci_vendor_id") == 0) {
    const uint32_t vendor = u32_info(id, CL_DEVICE_VENDOR_ID); /* beyond 16 bits it is one that Khronos gave */
    const bool on_bus = !(u64_info(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU);
    return on_bus && vendor && vendor <= 0xffff ? kw_gpu_give_int(out_value, vendor) : KW_ERR_NOT_FOUND;
  }
  return KW_ERR_NOT_FOUND;
}

bool ocl_has_f64(const kw_gpu_physical *physical) {
  return u64_info(physical->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
}

void ocl_identify(const kw_gpu_physical *physical, char *out, size_t size) {
  char platform[128] = "", name[64], version[64];
  if (ocl_quirks(physical->owner) & OCL_KEEPS_PROGRAMS) return;
  clGetPlatformInfo(physical->owner, CL_PLATFORM_VERSION, sizeof platform - 1, platform, NULL);
  text_info(physical->id, CL_DEVICE_NAME, name, sizeof name);
  text_info(physical->id, CL_DRIVER_VERSION, version, sizeof version);
  snprintf(out, size, "%s; %s; %s; " OCL_BUILD_OPTIONS, platform, name, version);
}

kw_status ocl_open(kw_gpu_device *base, const kw_open_info *info) {
  (void)info;
  ocl_device *device = (ocl_device *)base;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)base->physical.owner, 0};
  cl_int error = CL_SUCCESS;
  device->id = base->physical.id;
  device->quirks = ocl_quirks(base->physical.owner);
  device->max_alloc = u64_info(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device->total_memory = u64_info(device->id, CL_DEVICE_GLOBAL_MEM_SIZE);
  size_t resolution = 0; /* of times, in nanoseconds */
  clGetDeviceInfo(device->id, CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof resolution, &resolution, NULL);
  device->has_clock = resolution > 0; /* rusticl (22.3.6) has 0, and the times 0, 1, 2 and 3 */
  device->unified = u32_info(device->id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  if (u64_info(device->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) base->vector_bytes = 64;
  device->context = clCreateContext(properties, 1, &device->id, NULL, NULL, &error);
  if (device->quirks & OCL_ENDS_EARLY) ocl_end_before_driver();
  return ocl_check(base->host, error, "clCreateContext");
}

kw_status ocl_close(kw_gpu_device *base) {
#ifdef OCL_HAS_CLBLAST
  ocl_clblast_forget();
#endif
  ocl_device *device = (ocl_device *)base;
  if (device->clock) clReleaseCommandQueue(device->clock);
  if (device->maps) clReleaseCommandQueue(device->maps);
  return ocl_check(base->host, clReleaseContext(device->context), "clReleaseContext");
}

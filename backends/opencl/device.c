/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kw_gpu_driver driver = {
    .prelude = kw_gpu_prelude_opencl,
    .module_build = ocl_module_build,
    .module_destroy = ocl_module_destroy,
    .kernel_create = ocl_kernel_create,
    .kernel_destroy = ocl_kernel_destroy,
    .launch = ocl_launch,
    .memory = &ocl_memory_api,
    .module_save = ocl_module_save,
    .module_load = ocl_module_load,
};

kw_status ocl_devices_find(ocl_plugin *plugin) {
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return KW_OK;
  if (platform_count > 16) platform_count = 16;
  for (cl_uint p = 0; p < platform_count; ++p) {
    cl_device_id ids[64];
    cl_uint count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, ids, &count) != CL_SUCCESS) continue;
    if (count > 64) count = 64;
    ocl_entry *entries = realloc(plugin->entries, (plugin->count + count) * sizeof *entries);
    if (!entries)
      return plugin->host->set_error(plugin->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for the device list");
    plugin->entries = entries;
    for (cl_uint d = 0; d < count; ++d) entries[plugin->count++] = (ocl_entry){platforms[p], ids[d]};
  }
  return KW_OK;
}

static kw_status device_count(void *plugin, uint32_t *out_count) {
  *out_count = ((ocl_plugin *)plugin)->count;
  return KW_OK;
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

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  cl_device_id id = ((ocl_plugin *)plugin)->entries[index].id;
  cl_device_type type = u64_info(id, CL_DEVICE_TYPE);
  uint32_t alignment = u32_info(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
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

/* What a program built for the device depends on. */
static void identify(const ocl_entry *entry, char *out, size_t size) {
  char platform[128] = "", name[64], version[64];
  clGetPlatformInfo(entry->platform, CL_PLATFORM_VERSION, sizeof platform - 1, platform, NULL);
  text_info(entry->id, CL_DEVICE_NAME, name, sizeof name);
  text_info(entry->id, CL_DRIVER_VERSION, version, sizeof version);
  snprintf(out, size, "%s; %s; %s; " OCL_BUILD_OPTIONS, platform, name, version);
}

static kw_status device_open(void *state, uint32_t index, void **out_device) {
  ocl_plugin *plugin = state;
  const ocl_entry *entry = &plugin->entries[index];
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)entry->platform, 0};
  cl_int error = CL_SUCCESS;
  ocl_device *device = calloc(1, sizeof *device);
  if (!device) return ocl_fail(plugin->host, CL_OUT_OF_HOST_MEMORY, "opening an OpenCL device");
  device->context = clCreateContext(properties, 1, &entry->id, NULL, NULL, &error);
  if (error != CL_SUCCESS) {
    free(device);
    return ocl_fail(plugin->host, error, "clCreateContext");
  }
  device->id = entry->id;
  device->quirks = ocl_quirks(entry->platform);
  device->max_alloc = u64_info(entry->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device->total_memory = u64_info(entry->id, CL_DEVICE_GLOBAL_MEM_SIZE);
  char identity[300];
  identify(entry, identity, sizeof identity);
  kw_status status =
      kw_gpu_device_start(&device->base, &driver, plugin->host, u64_info(entry->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
                          device->quirks & OCL_KEEPS_PROGRAMS ? NULL : identity);
  if (status == KW_OK) {
    if (u64_info(entry->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) device->base.vector_bytes = 64;
    *out_device = device;
  } else {
    clReleaseContext(device->context);
    free(device);
  }
  return status;
}

static kw_status device_close(void *state) {
  ocl_device *device = state;
  kw_gpu_device_finish(&device->base);
#ifdef OCL_HAS_CLBLAST
  ocl_clblast_forget();
#endif
  clReleaseContext(device->context);
  free(device);
  return KW_OK;
}

const kw_device_api ocl_device_api = {
    .struct_size = sizeof ocl_device_api,
    .count = device_count,
    .info = device_info,
    .open = device_open,
    .close = device_close,
};

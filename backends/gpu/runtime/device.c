/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kw_rt_runtime *const here = &kw_rt_runtime_here;

static const kw_gpu_driver driver = {
    .prelude = kw_gpu_prelude_cuda,
    .module_build = kw_rt_module_build,
    .module_destroy = kw_rt_module_destroy,
    .kernel_create = kw_rt_kernel_create,
    .kernel_destroy = kw_rt_kernel_destroy,
    .launch = kw_rt_launch,
    .memory = &kw_rt_memory_api,
    .module_save = kw_rt_module_save,
    .module_load = kw_rt_module_load,
};

static kw_status device_count(void *plugin, uint32_t *out_count) {
  const kw_host_api *host = *(const kw_host_api **)plugin;
  int count = 0, error = kw_rt.device_count(&count);
  if (error) {
    char text[300];
    kw_rt_describe(KW_RT_device_count, error, text, sizeof text);
    return host->set_error(host->ctx, kw_rt_status(error), text);
  }
  *out_count = (uint32_t)count;
  return KW_OK;
}

static int attribute(int device, int number) {
  int value = 0;
  return kw_rt.device_attribute(&value, number, device) == 0 ? value : 0;
}

/* The place on the bus; of a slice of a device, which shares it, the UUID. */
static void stable_id(int device, kw_device_info *info) {
  char bus[32] = "", pci[sizeof info->stable_id] = "";
  uint8_t uuid[16];
  unsigned place[4];
  if (kw_rt.device_pci(bus, sizeof bus, device) == 0 &&
      sscanf(bus, "%x:%x:%x.%x", &place[0], &place[1], &place[2], &place[3]) == 4)
    kw_gpu_id_pci(pci, sizeof pci, place[0], place[1], place[2], place[3]);
  if (pci[0] && !strstr(info->name, " MIG ")) {
    memcpy(info->stable_id, pci, sizeof pci);
    return;
  }
  memcpy(info->parent_id, pci, sizeof pci);
  if (kw_rt.device_uuid(uuid, device) == 0) kw_gpu_id_uuid(info->stable_id, sizeof info->stable_id, uuid);
}

static void driver_text(char *out, size_t size) {
  int version = 0;
  kw_rt.driver_version(&version);
  here->version_text(version, out, size);
}

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  const kw_host_api *host = *(const kw_host_api **)plugin;
  int id;
  size_t memory = 0;
  int error = kw_rt.device_get(&id, (int)index), call = KW_RT_device_get;
  if (!error) {
    call = KW_RT_device_name;
    error = kw_rt.device_name(out_info->name, sizeof out_info->name, id);
  }
  if (error) {
    char text[300];
    kw_rt_describe(call, error, text, sizeof text);
    return host->set_error(host->ctx, kw_rt_status(error), text);
  }
  kw_rt.device_memory(&memory, id);
  out_info->type = KW_DEVICE_GPU;
  out_info->flags = kw_gpu_device_flags(out_info->name);
  out_info->compute_units = (uint32_t)attribute(id, here->units_attribute);
  snprintf(out_info->vendor, sizeof out_info->vendor, "%s", here->vendor);
  driver_text(out_info->driver_version, sizeof out_info->driver_version);
  stable_id(id, out_info);
  out_info->total_memory = memory;
  out_info->mem_alignment = 256;
  out_info->offset_alignment = 64;
  return KW_OK;
}

/* What a module built for the device depends on. */
static void identify(const kw_rt_device *device, char *out, size_t size) {
  char name[64] = "", version[64] = "", arch[KW_RT_ARCH_SIZE];
  const char *options[KW_RT_OPTION_LIMIT];
  int major = 0, minor = 0;
  kw_rt.device_name(name, sizeof name, device->id);
  kw_rt.compiler_version(&major, &minor);
  driver_text(version, sizeof version);
  size_t used = (size_t)snprintf(out, size, "%s; %s; %s %d.%d;", name, version, here->compiler_name, major, minor);
  uint32_t count = kw_rt_options(device->id, arch, options);
  for (uint32_t i = 0; i < count && used < size; ++i)
    used += (size_t)snprintf(out + used, size - used, " %s", options[i]);
}

static kw_status open_on(kw_rt_device *device, const kw_host_api *host) {
  char identity[400];
  size_t memory = 0;
  kw_rt.device_memory(&memory, device->id);
  device->total_memory = memory;
  device->pools = attribute(device->id, here->pools_attribute) != 0;
  void *before = here->enter(device);
  int error = kw_rt.stream_create(&device->memory_stream, 1); /* waits for no other */
  here->leave(before);
  if (error) return kw_rt_check(device, KW_RT_stream_create, error);
  identify(device, identity, sizeof identity);
  kw_status status = kw_gpu_device_start(&device->base, &driver, host, true, identity);
  if (status != KW_OK) kw_rt.stream_destroy(device->memory_stream);
  return status;
}

static kw_status device_open(void *plugin, uint32_t index, void **out_device) {
  const kw_host_api *host = *(const kw_host_api **)plugin;
  kw_rt_device *device = calloc(1, sizeof *device);
  if (!device) return kw_rt_no_memory(host, "a device");
  device->base.host = host;
  pthread_mutex_init(&device->library_lock, NULL);
  int error = kw_rt.device_get(&device->id, (int)index);
  kw_status status = kw_rt_check(device, KW_RT_device_get, error);
  if (status == KW_OK) status = here->context_open(device);
  if (status == KW_OK) {
    status = open_on(device, host);
    if (status != KW_OK) here->context_close(device, atomic_load(&device->lost));
  }
  if (status == KW_OK) {
    *out_device = device;
  } else {
    pthread_mutex_destroy(&device->library_lock);
    free(device);
  }
  return status;
}

static kw_status device_close(void *state) {
  kw_rt_device *device = state;
  void *before = here->enter(device);
  kw_rt_close_handles(device);
  kw_gpu_device_finish(&device->base);
  kw_rt.stream_destroy(device->memory_stream);
  here->leave(before);
  here->context_close(device, atomic_load(&device->lost));
  pthread_mutex_destroy(&device->library_lock);
  free(device);
  return KW_OK;
}

const kw_device_api kw_rt_device_api = {
    .struct_size = sizeof kw_rt_device_api,
    .count = device_count,
    .info = device_info,
    .open = device_open,
    .close = device_close,
};

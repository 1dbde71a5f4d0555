/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: found, described, opened and closed.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

kw_status kw_rt_probe(const char **out_reason) {
  const char *why = kw_rt_open();
  if (!why) return KW_OK;
  *out_reason = why;
  return KW_ERR_NOT_FOUND;
}

/* For calls that no device is open for. */
static kw_status fail(const kw_host_api *host, int call, int error) {
  char text[300];
  kw_rt_error_text(call, error, text, sizeof text);
  return kw_gpu_error(host, kw_rt_status(error), "%s", text);
}

kw_status kw_rt_find(const kw_host_api *host, kw_gpu_list *list) {
  const char *why = kw_rt_open();
  int count = 0;
  if (why) return kw_gpu_error(host, KW_ERR_NOT_FOUND, "%s", why);
  int error = kw_rt.device_count(&count);
  if (error) return fail(host, KW_RT_device_count, error);
  for (int i = 0; i < count; ++i) {
    int id;
    error = kw_rt.device_get(&id, i);
    if (error) return fail(host, KW_RT_device_get, error);
    kw_status status = kw_gpu_list_add(list, NULL, (void *)(intptr_t)id);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

static int id_of(const kw_gpu_physical *physical) {
  return (int)(intptr_t)physical->id;
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

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
  runtime->version_text(version, out, size);
}

kw_status kw_rt_describe(const kw_host_api *host, const kw_gpu_physical *physical, kw_device_info *out_info) {
  const int id = id_of(physical);
  size_t memory = 0;
  int error = kw_rt.device_name(out_info->name, sizeof out_info->name, id);
  if (error) return fail(host, KW_RT_device_name, error);
  kw_rt.device_memory(&memory, id);
  out_info->type = KW_DEVICE_GPU;
  out_info->flags = kw_gpu_device_flags(out_info->name);
  out_info->compute_units = (uint32_t)attribute(id, runtime->units_attribute);
  snprintf(out_info->vendor, sizeof out_info->vendor, "%s", runtime->vendor);
  driver_text(out_info->driver_version, sizeof out_info->driver_version);
  stable_id(id, out_info);
  out_info->total_memory = memory;
  out_info->mem_alignment = 256;
  out_info->offset_alignment = 64;
  return KW_OK;
}

kw_status kw_rt_attribute(const kw_host_api *host, const kw_gpu_physical *physical, const char *key,
                          kw_attribute *out_value) {
  const int id = id_of(physical);
  int value = 0;
  (void)host;
  if (strcmp(key, "dlpack_device_type") == 0) return kw_gpu_give_int(out_value, runtime->dl_device);
  if (strcmp(key, "dlpack_device_id") == 0) return kw_gpu_give_int(out_value, id);
  if (strcmp(key, "unified_memory") == 0) {
    if (kw_rt.device_attribute(&value, runtime->integrated_attribute, id)) return KW_ERR_NOT_FOUND;
    return kw_gpu_give_bool(out_value, value != 0);
  }
  if (strcmp(key, "core_clock_hz") == 0) value = attribute(id, runtime->clock_attribute);
  if (strcmp(key, "memory_clock_hz") == 0) value = attribute(id, runtime->memory_clock_attribute);
  return value > 0 ? kw_gpu_give_int(out_value, (int64_t)value * 1000) : KW_ERR_NOT_FOUND;
}

void kw_rt_identify(const kw_gpu_physical *physical, char *out, size_t size) {
  const int id = id_of(physical);
  char name[64] = "", version[64] = "", arch[KW_RT_ARCH_SIZE];
  const char *options[KW_RT_OPTION_LIMIT];
  int major = 0, minor = 0;
  kw_rt.device_name(name, sizeof name, id);
  kw_rt.compiler_version(&major, &minor);
  driver_text(version, sizeof version);
  size_t used = (size_t)snprintf(out, size, "%s; %s; %s %d.%d;", name, version, runtime->compiler_name, major, minor);
  uint32_t count = kw_rt_options(id, arch, options);
  for (uint32_t i = 0; i < count && used < size; ++i)
    used += (size_t)snprintf(out + used, size - used, " %s", options[i]);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

kw_status kw_rt_device_open(kw_gpu_device *base, const kw_open_info *info) {
  (void)info;
  kw_rt_device *device = (kw_rt_device *)base;
  size_t memory = 0;
  device->id = id_of(&base->physical);
  kw_rt.device_memory(&memory, device->id);
  device->total_memory = memory;
  device->pools = attribute(device->id, runtime->pools_attribute) != 0;
  device->managed = attribute(device->id, runtime->managed_attribute) != 0;
  kw_status status = runtime->context_open(device);
  if (status != KW_OK) return status;
  void *before = runtime->enter(device);
  int error = kw_rt.stream_create(&device->memory_stream, 1); /* waits for no other */
  runtime->leave(before);
  status = kw_rt_check(device, KW_RT_stream_create, error);
  if (status != KW_OK) runtime->context_close(device, atomic_load(&device->lost));
  return status;
}

kw_status kw_rt_device_close(kw_gpu_device *base) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *before = runtime->enter(device);
  kw_rt_close_handles(device);
  if (device->origin) kw_rt.event_destroy(device->origin);
  kw_rt.stream_destroy(device->memory_stream);
  runtime->leave(before);
  runtime->context_close(device, atomic_load(&device->lost));
  return KW_OK;
}

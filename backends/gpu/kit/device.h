/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin over a driver and its devices: their state, and the device group.
 */
#ifndef KEYWAY_GPU_KIT_DEVICE_H
#define KEYWAY_GPU_KIT_DEVICE_H

#include <keyway/gpu.h>

struct kw_gpu_list {
  const kw_host_api *host;
  uint32_t count;
  kw_gpu_physical *items;
  const kw_init_info *info; /* while the driver finds them */
};

/* A plugin between init and shutdown; its device slots get it. */
typedef struct kw_gpu_plugin {
  const kw_gpu_driver *driver;
  const kw_host_api *host;
  kw_gpu_list list;
} kw_gpu_plugin;

/* Finds the plugin's devices; what handlers of signals were before, they are afterwards. */
kw_status kw_gpu_devices_find(kw_gpu_plugin *plugin);
/* Whether a device computes in double precision. */
bool kw_gpu_has_f64(const kw_gpu_driver *driver, const kw_gpu_physical *physical);

/* What the system tells of a device with this place on the bus, the stable id of a device or of what it is a part of:
 * KW_ERR_NOT_FOUND where that is nothing. */
kw_status kw_gpu_bus_attribute(const char *id, const char *key, kw_attribute *out_value);

/* The device group over any driver, and the options that all plugins of the kit have. */
extern const kw_device_api kw_gpu_device_slots;
#define KW_GPU_OPTION_COUNT 1
extern const kw_option_desc *const kw_gpu_options[KW_GPU_OPTION_COUNT];

#endif /* KEYWAY_GPU_KIT_DEVICE_H */

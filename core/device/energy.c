/* SPDX-License-Identifier: Apache-2.0
 *
 * Energy windows: two readings of the plugin's counter, or of the host's.
 */
#include "base/error.h"
#include "base/fork.h"
#include "base/struct.h"
#include "base/trace.h"
#include "device/device.h"
#include "device/rapl.h"

#include <stdlib.h>

/* One reading: of the plugin's counter, or of the host's. */
typedef struct reading {
  uint64_t microjoules;
  kw_rapl rapl;
} reading;

struct kw_energy_window {
  kw_device *device;
  uint64_t begin_ns;
  reading begin;
};

static bool has_counter(const kw_device *device) {
  return (device->plugin->native & KW_NATIVE_ENERGY) != 0;
}

static kw_status read_now(kw_device *device, reading *out_reading) {
  if (has_counter(device)) {
    kw_status status =
        kw_device_mark_if_lost(device, KW_ASK(device->slots, energy.read, device->handle, &out_reading->microjoules));
    return status == KW_OK ? KW_OK : kw_from_plugin(status, "reading the energy counter of %s", device->name);
  }
  if (device->info.type != KW_DEVICE_CPU) {
    return kw_fail(KW_ERR_UNSUPPORTED, "%s has no energy counter: its plugin has no group " KW_GROUP_ENERGY,
                   device->name);
  }
  kw_status status = kw_rapl_read(KW_RAPL_ROOT, &out_reading->rapl);
  return status == KW_OK ? KW_OK : kw_fail(status, "%s: %s", device->name, kw_error_message());
}

KW_API kw_status kw_energy_begin(kw_device *device, kw_energy_window **out_window) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_energy_begin: argument device is NULL.");
  if (!out_window) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_energy_begin: argument out_window is NULL.");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  kw_energy_window *window = malloc(sizeof *window);
  if (!window) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for an energy window of %s", device->name);
  status = kw_device_synchronize(device);
  if (status == KW_OK) status = read_now(device, &window->begin);
  if (status != KW_OK) {
    free(window);
    return status;
  }
  window->begin_ns = kw_trace_now();
  window->device = device;
  kw_device_retain(device);
  *out_window = window;
  return KW_OK;
}

/* The window's energy so far. */
static kw_status measure(const kw_energy_window *window, kw_energy *out_energy) {
  kw_status status = kw_device_synchronize(window->device);
  reading now;
  if (status == KW_OK) status = read_now(window->device, &now);
  if (status != KW_OK) return status;
  bool own = has_counter(window->device);
  if (own && now.microjoules < window->begin.microjoules) {
    return kw_fail(KW_ERR_INTERNAL, "the energy counter of %s went back; that is a defect of its plugin",
                   window->device->name);
  }
  uint64_t used = own ? now.microjoules - window->begin.microjoules : kw_rapl_between(&window->begin.rapl, &now.rapl);
  *out_energy = (kw_energy){
      .joules = (double)used * 1e-6, .ns = kw_trace_now() - window->begin_ns, .source = own ? KW_GROUP_ENERGY : "RAPL"};
  return KW_OK;
}

KW_API kw_status kw_energy_end(kw_energy_window *window, kw_energy *out_energy) {
  if (!window) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_energy_end: argument window is NULL.");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  kw_energy energy;
  status = kw_struct_check_given("kw_energy_end", out_energy);
  if (status == KW_OK) status = measure(window, &energy);
  if (status == KW_OK) kw_struct_write(out_energy, &energy, sizeof energy);
  kw_device_release(window->device);
  free(window);
  return status;
}

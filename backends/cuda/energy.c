/* SPDX-License-Identifier: Apache-2.0
 *
 * What a GPU has used, by NVML: the driver's management library, which is opened when first asked for.
 */
#include "cuda.h"

#include <stdio.h>

static struct {
  int (*init)(void);
  int (*device_by_bus)(const char *bus, void **device);
  int (*energy)(void *device, unsigned long long *millijoules);
  const char *(*error_text)(int error);
} nvml;

static const kw_rt_own_call calls[] = {
    {"nvmlInit_v2", &nvml.init},
    {"nvmlDeviceGetHandleByPciBusId_v2", &nvml.device_by_bus},
    {"nvmlDeviceGetTotalEnergyConsumption", &nvml.energy},
    {"nvmlErrorString", &nvml.error_text},
    {NULL, NULL},
};

static const char *trouble; /* why there is no NVML */

static void open_nvml(void) {
  static const char *const names[] = {"libnvidia-ml.so.1", NULL};
  void *library = kw_rt_load(names);
  if (!library) {
    trouble = "there is no libnvidia-ml.so.1, which comes with the NVIDIA driver (Debian: libnvidia-ml1)";
  } else if (kw_rt_find_calls(library, calls)) {
    trouble = "the installed libnvidia-ml.so.1 knows no energy counter: it is too old";
  } else if (nvml.init() != 0) {
    trouble = "nvmlInit_v2 failed";
  }
}

static kw_status energy_read(void *state, uint64_t *out_microjoules) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const kw_rt_device *device = state;
  const kw_host_api *host = device->base.host;
  pthread_once(&once, open_nvml);
  if (trouble) return host->set_error(host->ctx, KW_ERR_UNSUPPORTED, trouble);
  char bus[32] = "", text[200];
  void *found = NULL;
  unsigned long long millijoules = 0;
  kw_rt.device_pci(bus, sizeof bus, device->id);
  const char *call = "nvmlDeviceGetHandleByPciBusId_v2";
  int error = nvml.device_by_bus(bus, &found);
  if (!error) {
    call = "nvmlDeviceGetTotalEnergyConsumption";
    error = nvml.energy(found, &millijoules);
  }
  if (error) {
    snprintf(text, sizeof text, "%s: %s", call, nvml.error_text(error));
    return host->set_error(host->ctx, KW_ERR_UNSUPPORTED, text);
  }
  *out_microjoules = (uint64_t)millijoules * 1000;
  return KW_OK;
}

const kw_energy_api cuda_energy_api = {.struct_size = sizeof cuda_energy_api, .read = energy_read};

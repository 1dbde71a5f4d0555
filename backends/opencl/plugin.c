/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend: every device of every installed OpenCL driver, with the portable kernel pack.
 */
#include "opencl.h"

#include <signal.h>
#include <stdlib.h>

static kw_status probe(const char **out_reason) {
  cl_uint count = 0;
  cl_int error = clGetPlatformIDs(0, NULL, &count);
  if (error == CL_SUCCESS && count > 0) return KW_OK;
  *out_reason =
      "no OpenCL platform is installed; on Debian install pocl-opencl-icd (runs on the CPU) or your vendor's ICD";
  return KW_ERR_NOT_FOUND;
}

static kw_status shutdown(void *state) {
  ocl_plugin *plugin = state;
  free(plugin->entries);
  free(plugin);
  return KW_OK;
}

static bool has_f64(const ocl_plugin *plugin) {
  for (uint32_t i = 0; i < plugin->count; ++i) {
    cl_device_fp_config config = 0;
    clGetDeviceInfo(plugin->entries[i].id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL);
    if (config) return true;
  }
  return false;
}

/* Drivers with a compiler inside install handlers for SIGINT, SIGSEGV and others when they are first asked for their
 * devices. The application's stay. */
static kw_status find_devices(ocl_plugin *plugin) {
  struct sigaction before[NSIG], after;
  for (int i = 1; i < NSIG; ++i) sigaction(i, NULL, &before[i]);
  kw_status status = ocl_devices_find(plugin);
  for (int i = 1; i < NSIG; ++i) {
    if (sigaction(i, NULL, &after) == 0 && after.sa_handler != before[i].sa_handler) sigaction(i, &before[i], NULL);
  }
  return status;
}

static kw_status init(const kw_host_api *host, void **out_plugin) {
  ocl_plugin *plugin = calloc(1, sizeof *plugin);
  if (!plugin) return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for the OpenCL plugin");
  plugin->host = host;
  kw_status status = find_devices(plugin);
  if (status == KW_OK) status = kw_gpu_register(host, has_f64(plugin));
#ifdef OCL_HAS_CLBLAST
  if (status == KW_OK) status = ocl_clblast_register(host, has_f64(plugin));
#endif
  if (status == KW_OK) {
    *out_plugin = plugin;
  } else {
    shutdown(plugin);
  }
  return status;
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &ocl_device_api},
    {KW_GROUP_MEMORY, &ocl_memory_api},
    {KW_GROUP_STREAM, &ocl_stream_api},
    {KW_GROUP_EVENT, &ocl_event_api},
};

static const kw_plugin_desc desc = {
    .struct_size = sizeof desc,
    .abi_version = KW_ABI_VERSION,
    .key = "opencl",
    .vendor = "keyway",
    .version = "0.9.0",
    .description = "Every OpenCL 1.2 device, with portable kernels",
    .build = __VERSION__,
    .sanitizer = KW_GPU_SANITIZER,
    .probe = probe,
    .init = init,
    .shutdown = shutdown,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_gpu_answer_query(&desc, host, out_plugin, out_reason);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The Level Zero backend: every device of every Level Zero driver, with the portable kernel pack.
 */
#include "levelzero.h"

#include <stdlib.h>

static kw_status probe(const char **out_reason) {
  uint32_t drivers = 0;
  kw_status status = lz_load(out_reason);
  if (status != KW_OK) return status;
  if (ze.DriverGet(&drivers, NULL) == ZE_RESULT_SUCCESS && drivers > 0) return KW_OK;
  *out_reason = "Level Zero has started, but shows no driver; reinstall your device's driver";
  return KW_ERR_NOT_FOUND;
}

static kw_status shutdown(void *state) {
  lz_plugin *plugin = state;
  free(plugin->entries);
  free(plugin);
  return KW_OK;
}

static bool has_f64(const lz_plugin *plugin) {
  for (uint32_t i = 0; i < plugin->count; ++i) {
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze.DeviceGetModuleProperties(plugin->entries[i].id, &module);
    if (module.flags & ZE_DEVICE_MODULE_FLAG_FP64) return true;
  }
  return false;
}

static kw_status init(const kw_host_api *host, void **out_plugin) {
  const char *reason;
  kw_status status = lz_load(&reason);
  if (status != KW_OK) return host->set_error(host->ctx, status, reason);
  lz_plugin *plugin = calloc(1, sizeof *plugin);
  if (!plugin) return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for the Level Zero plugin");
  plugin->host = host;
  status = lz_devices_find(plugin);
  if (status == KW_OK) status = kw_gpu_register(host, has_f64(plugin));
  if (status == KW_OK) {
    *out_plugin = plugin;
  } else {
    shutdown(plugin);
  }
  return status;
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &lz_device_api}, {KW_GROUP_MEMORY, &lz_memory_api}, {KW_GROUP_STREAM, &lz_stream_api},
    {KW_GROUP_EVENT, &lz_event_api},   {KW_GROUP_GRAPH, &lz_graph_api},
};

static const kw_plugin_desc desc = {
    .struct_size = sizeof desc,
    .abi_version = KW_ABI_VERSION,
    .key = "levelzero",
    .vendor = "keyway",
    .version = "0.9.0",
    .description = "Every Level Zero device, with portable kernels",
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

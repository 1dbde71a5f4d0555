/* SPDX-License-Identifier: Apache-2.0
 *
 * The cpu plugin's life: what it says of itself, its start and its end.
 */
#include "cpu.h"

#include <stdlib.h>

#ifdef __has_feature
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define SANITIZER "address"
#elif defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define SANITIZER "thread"
#else
#define SANITIZER ""
#endif

static kw_status cpu_probe(const char **out_reason) {
  (void)out_reason; /* a CPU is always there */
  return KW_OK;
}

static kw_status cpu_init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_status status = kw_cpu_check_critical(host, 0, info->next);
  if (status != KW_OK) return status;
  kw_cpu_plugin *plugin = malloc(sizeof *plugin);
  if (!plugin) return kw_cpu_error(host, KW_ERR_OUT_OF_MEMORY, "no host memory for the plugin's state");
  plugin->host = host;
  status = kw_cpu_register_kernels(host);
  if (status != KW_OK) {
    free(plugin);
    return status;
  }
  *out_plugin = plugin;
  return KW_OK;
}

static kw_status cpu_shutdown(void *plugin) {
  free(plugin);
  return KW_OK;
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &kw_cpu_device_api},     {KW_GROUP_MEMORY, &kw_cpu_memory_api},
    {KW_GROUP_STREAM, &kw_cpu_stream_api},     {KW_GROUP_EVENT, &kw_cpu_event_api},
    {KW_GROUP_GRAPH, &kw_cpu_graph_api},       {KW_GROUP_INTEROP, &kw_cpu_interop_api},
    {KW_GROUP_ACTIVITY, &kw_cpu_activity_api},
};

static const kw_plugin_desc descriptor = {
    .struct_size = sizeof descriptor,
    .abi_version = KW_ABI_VERSION,
    .key = "cpu",
    .vendor = "keyway",
    .version = KEYWAY_PLUGIN_VERSION,
    .description = "the host's processor",
#ifdef __clang__
    .build = __VERSION__,
#else
    .build = "GCC " __VERSION__,
#endif
    .sanitizer = SANITIZER,
    .probe = cpu_probe,
    .init = cpu_init,
    .shutdown = cpu_shutdown,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .option_count = KW_CPU_OPTION_COUNT,
    .options = kw_cpu_options,
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_query_answer(host, &descriptor, out_plugin, out_reason);
}

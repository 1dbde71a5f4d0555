/* SPDX-License-Identifier: Apache-2.0
 *
 * The Level Zero backend: every device of every Level Zero driver, through the plugin kit.
 */
#include "levelzero.h"

static kw_status probe(const char **out_reason) {
  uint32_t drivers = 0;
  kw_status status = lz_load(out_reason);
  if (status != KW_OK) return status;
  if (ze.DriverGet(&drivers, NULL) == ZE_RESULT_SUCCESS && drivers > 0) return KW_OK;
  *out_reason = "Level Zero has started, but shows no driver; reinstall your device's driver";
  return KW_ERR_NOT_FOUND;
}

static const kw_group groups[] = {{KW_GROUP_GRAPH, &lz_graph_api}, {KW_GROUP_TEST, &lz_test_api}};

static const kw_gpu_driver driver = {
    .key = "levelzero",
    .vendor = "keyway",
    .version = KEYWAY_PLUGIN_VERSION,
    .description = "Every Level Zero device, with portable kernels",
    .build = __VERSION__,
    .sanitizer = KW_GPU_SANITIZER,
    .probe = probe,
    .find = lz_find,
    .describe = lz_describe,
    .has_f64 = lz_has_f64,
    .identify = lz_identify,
    .device_size = sizeof(lz_device),
    .attribute = lz_attribute,
    .open = lz_open,
    .close = lz_close,
    .alloc = lz_alloc,
    .dealloc = lz_free,
    .copy = lz_copy,
    .fill = lz_fill,
    .alloc_host = lz_alloc_host,
    .free_host = lz_free_host,
    .mem_kinds = 1u << KW_MEM_HOST_PINNED | 1u << KW_MEM_MANAGED,
    .mem_flags = KW_MEM_EXPORTABLE,
    .map = kw_gpu_map_by_address,
    .unmap = kw_gpu_unmap_by_address,
    .host_register = lz_host_register,
    .host_unregister = lz_host_unregister,
    .import_handle = lz_import,
    .release_handle = lz_import_end,
    .export_handle = lz_export,
    .native_handle = lz_native_handle,
    .stream_size = sizeof(lz_stream),
    .stream_create = lz_stream_create,
    .stream_destroy = lz_stream_destroy,
    .stream_synchronize = lz_stream_synchronize,
    .stream_query = lz_stream_query,
    .callback_size = sizeof(lz_callback),
    .callback_hold = lz_callback_hold,
    .callback_wait = lz_callback_wait,
    .callback_done = lz_callback_done,
    .event_record = lz_event_record,
    .event_wait = lz_event_await,
    .event_query = lz_event_query,
    .event_synchronize = lz_event_synchronize,
    .event_elapsed = lz_event_elapsed,
    .event_keep = lz_event_keep,
    .event_drop = lz_event_drop,
    .mark_passed = lz_mark_passed,
    .mark_times = lz_mark_times,
    .mark_drop = lz_mark_drop,
    .device_now = lz_device_now,
    .prelude = kw_gpu_prelude_opencl,
    .module_build = lz_module_build,
    .module_destroy = lz_module_destroy,
    .module_save = lz_module_save,
    .module_load = lz_module_load,
    .kernel_create = lz_kernel_create,
    .kernel_destroy = lz_kernel_destroy,
    .launch = lz_launch,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_gpu_query(&driver, host, out_plugin, out_reason);
}

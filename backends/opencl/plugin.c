/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend: every device of every installed OpenCL driver, through the plugin kit.
 */
#include "opencl.h"

static kw_status probe(const char **out_reason) {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, NULL, &count) == CL_SUCCESS && count > 0) return KW_OK;
  *out_reason =
      "no OpenCL platform is installed; on Debian install pocl-opencl-icd (runs on the CPU) or your vendor's ICD";
  return KW_ERR_NOT_FOUND;
}

static const kw_group groups[] = {{KW_GROUP_INTEROP, &ocl_interop_api}};

static const kw_option_desc *const options[] = {&ocl_offer};

static const kw_gpu_driver driver = {
    .key = "opencl",
    .vendor = "keyway",
    .version = KEYWAY_PLUGIN_VERSION,
    .description = "Every OpenCL 1.2 device, with portable kernels",
    .build = __VERSION__,
    .sanitizer = KW_GPU_SANITIZER,
    .probe = probe,
    .find = ocl_find,
    .describe = ocl_describe,
    .has_f64 = ocl_has_f64,
    .identify = ocl_identify,
#ifdef OCL_HAS_CLBLAST
    .register_kernels = ocl_clblast_register,
#endif
    .device_size = sizeof(ocl_device),
    .attribute = ocl_attribute,
    .open = ocl_open,
    .close = ocl_close,
    .alloc = ocl_alloc,
    .dealloc = ocl_free,
    .mem_kinds = 1u << KW_MEM_HOST_VISIBLE | 1u << KW_MEM_HOST_PINNED,
    .copy = ocl_copy,
    .map = ocl_map,
    .unmap = ocl_unmap,
    .fill = ocl_fill,
    .usage = ocl_usage,
    .import_place = ocl_import_place,
    .stream_size = sizeof(ocl_stream),
    .stream_create = ocl_stream_create,
    .stream_destroy = ocl_stream_destroy,
    .stream_synchronize = ocl_stream_synchronize,
    .stream_query = ocl_stream_query,
    .callback_size = sizeof(ocl_callback),
    .callback_hold = ocl_callback_hold,
    .callback_wait = ocl_callback_wait,
    .callback_done = ocl_callback_done,
    .event_record = ocl_event_record,
    .event_wait = ocl_event_wait,
    .event_query = ocl_event_query,
    .event_synchronize = ocl_event_synchronize,
    .event_elapsed = ocl_event_elapsed,
    .event_keep = ocl_event_keep,
    .event_drop = ocl_event_drop,
    .mark_passed = ocl_mark_passed,
    .mark_times = ocl_mark_times,
    .mark_drop = ocl_mark_drop,
    .device_now = ocl_device_now,
    .prelude = kw_gpu_prelude_opencl,
    .module_build = ocl_module_build,
    .module_destroy = ocl_module_destroy,
    .module_save = ocl_module_save,
    .module_load = ocl_module_load,
    .kernel_create = ocl_kernel_create,
    .kernel_destroy = ocl_kernel_destroy,
    .launch = ocl_launch,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_gpu_query(&driver, host, out_plugin, out_reason);
}

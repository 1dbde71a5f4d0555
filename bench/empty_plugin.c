/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest plugin there is, with one kernel that does nothing: what is left when it runs is the cost of a call.
 */
#include <keyway/plugin.h>

#include <stdlib.h>
#include <string.h>

static const kw_host_api *host;
static char state; /* stands for the plugin's device and stream, which have nothing to remember */

static kw_status count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 1;
  return KW_OK;
}

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin, (void)index;
  out_info->type = KW_DEVICE_OTHER;
  out_info->flags = KW_DEVICE_EMULATED;
  strcpy(out_info->name, "empty kernels (emulated)");
  out_info->total_memory = UINT64_C(1) << 30;
  out_info->mem_alignment = 64;
  out_info->offset_alignment = 64;
  return KW_OK;
}

static kw_status open_device(void *plugin, uint32_t index, void **out_device) {
  (void)plugin, (void)index;
  *out_device = &state;
  return KW_OK;
}

static kw_status close_device(void *device) {
  (void)device;
  return KW_OK;
}

static kw_status alloc_mem(void *device, const kw_alloc_info *alloc, kw_mem *out_mem) {
  (void)device;
  *out_mem = aligned_alloc(64, (alloc->size + 63) & ~UINT64_C(63));
  return *out_mem ? KW_OK : host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "aligned_alloc failed");
}

static kw_status free_mem(void *device, kw_mem mem) {
  (void)device;
  free(mem);
  return KW_OK;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *copy) {
  (void)device, (void)stream;
  char *to = copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset;
  const char *from = copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (char *)copy->src_mem + copy->src_offset;
  memcpy(to, from, copy->size);
  return KW_OK;
}

static kw_status create_stream(void *device, const kw_stream_info *stream, void **out_stream) {
  (void)device, (void)stream;
  *out_stream = &state;
  return KW_OK;
}

static kw_status end_stream(void *device, void *stream) {
  (void)device, (void)stream;
  return KW_OK;
}

static kw_status launch_nothing(const kw_call *call) {
  (void)call;
  return KW_OK;
}

static kw_status probe(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}

static kw_status init(const kw_host_api *host_api, void **out_plugin) {
  (void)out_plugin;
  host = host_api;
  const kw_kernel_desc add = {.struct_size = sizeof add,
                              .op = "add.Tensor",
                              .name = "empty",
                              .dtypes = {{KW_DTYPE_BIT(KW_F32), 0}},
                              .launch = launch_nothing};
  return host->register_kernel(host->ctx, &add);
}

static kw_status shutdown_plugin(void *plugin) {
  (void)plugin;
  return KW_OK;
}

static const kw_device_api device_api = {sizeof device_api, 0, count, info, open_device, close_device};
static const kw_memory_api memory_api = {sizeof memory_api, 0, alloc_mem, free_mem, copy, NULL, NULL};
static const kw_stream_api stream_api = {sizeof stream_api, 0, create_stream, end_stream, end_stream, NULL, NULL};
static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &device_api}, {KW_GROUP_MEMORY, &memory_api}, {KW_GROUP_STREAM, &stream_api}};

static const kw_plugin_desc plugin = {.struct_size = sizeof plugin,
                                      .abi_version = KW_ABI_VERSION,
                                      .key = "empty",
                                      .vendor = "keyway",
                                      .version = "1",
                                      .description = "kernels that do nothing, for measuring calls",
                                      .build = "",
                                      .sanitizer = "",
                                      .probe = probe,
                                      .init = init,
                                      .shutdown = shutdown_plugin,
                                      .groups = groups,
                                      .group_count = sizeof groups / sizeof groups[0]};

kw_status keyway_plugin_query(const kw_query_info *asking, const kw_plugin_desc **out_plugin, const char **out_reason) {
  if (KW_ABI_MAJOR(asking->abi_max) != KW_ABI_MAJOR(KW_ABI_VERSION)) {
    *out_reason = "this plugin follows Keyway ABI major version 0";
    return KW_ERR_ABI_MISMATCH;
  }
  *out_plugin = &plugin;
  return KW_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin around fixture.h. What a fixture may define first, with the default:
 *   FIXTURE_VENDOR        "fixture"
 *   FIXTURE_ABI           KW_ABI_VERSION
 *   FIXTURE_DEVICES       how many devices: 1
 *   FIXTURE_TYPE, FIXTURE_FLAGS    of kw_device_info: KW_DEVICE_OTHER, 0
 *   FIXTURE_INFO_MORE(info)        sets more of it: nothing
 *   FIXTURE_DESCRIPTION   a text
 *   FIXTURE_OPTIONS, FIXTURE_OPTION_COUNT    an array of pointers to kw_option_desc: none
 *   FIXTURE_COUNT, FIXTURE_INFO, FIXTURE_ATTRIBUTE    functions; the last is NULL
 *   FIXTURE_OPEN, FIXTURE_CLOSE, FIXTURE_ALLOC, FIXTURE_COPY, FIXTURE_LAUNCH, FIXTURE_PROBE, FIXTURE_INIT,
 *   FIXTURE_SHUTDOWN      functions
 *   FIXTURE_INIT_START    statements at the start of init
 *   FIXTURE_MEMORY, FIXTURE_STREAM     addresses of whole tables
 *   FIXTURE_MORE_GROUPS   further rows of kw_group
 *   FIXTURE_DESC_SIZE     struct_size of the descriptor
 *   FIXTURE_QUERY_START   statements at the start of query
 */
#ifndef FIXTURE_VENDOR
#define FIXTURE_VENDOR "fixture"
#endif
#ifndef FIXTURE_ABI
#define FIXTURE_ABI KW_ABI_VERSION
#endif
#ifndef FIXTURE_DEVICES
#define FIXTURE_DEVICES 1
#endif
#ifndef FIXTURE_TYPE
#define FIXTURE_TYPE KW_DEVICE_OTHER
#endif
#ifndef FIXTURE_FLAGS
#define FIXTURE_FLAGS 0
#endif
#ifndef FIXTURE_INFO_MORE
#define FIXTURE_INFO_MORE(info) ((void)(info))
#endif
#ifndef FIXTURE_DESC_SIZE
#define FIXTURE_DESC_SIZE sizeof(kw_plugin_desc)
#endif
#ifndef FIXTURE_QUERY_START
#define FIXTURE_QUERY_START
#endif
#ifndef FIXTURE_MORE_GROUPS
#define FIXTURE_MORE_GROUPS
#endif
#ifndef FIXTURE_DESCRIPTION
#define FIXTURE_DESCRIPTION "a synthetic plugin for tests"
#endif
#ifndef FIXTURE_OPTIONS
#define FIXTURE_OPTIONS NULL
#define FIXTURE_OPTION_COUNT 0
#endif
#ifndef FIXTURE_ATTRIBUTE
#define FIXTURE_ATTRIBUTE NULL
#endif
#ifndef FIXTURE_OPEN
#define FIXTURE_OPEN fixture_open
#endif
#ifndef FIXTURE_CLOSE
#define FIXTURE_CLOSE fixture_close
#endif
#ifndef FIXTURE_INIT_START
#define FIXTURE_INIT_START
#endif
#ifndef FIXTURE_ALLOC
#define FIXTURE_ALLOC fixture_alloc
#endif
#ifndef FIXTURE_COPY
#define FIXTURE_COPY fixture_copy
#endif
#ifndef FIXTURE_LAUNCH
#define FIXTURE_LAUNCH fixture_add
#endif

#ifndef FIXTURE_COUNT
static kw_status fixture_count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = FIXTURE_DEVICES;
  return KW_OK;
}
#define FIXTURE_COUNT fixture_count
#endif

#ifndef FIXTURE_INFO
static kw_status fixture_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin;
  out_info->type = FIXTURE_TYPE;
  out_info->flags = FIXTURE_FLAGS;
  out_info->compute_units = 1;
  snprintf(out_info->name, sizeof out_info->name, "Fixture " FIXTURE_KEY " %u", index);
  snprintf(out_info->vendor, sizeof out_info->vendor, FIXTURE_VENDOR);
  snprintf(out_info->stable_id, sizeof out_info->stable_id, "slot:" FIXTURE_VENDOR "-%u", index);
  out_info->total_memory = UINT64_C(1) << 30;
  out_info->mem_alignment = 64;
  out_info->offset_alignment = 64;
  FIXTURE_INFO_MORE(out_info);
  return KW_OK;
}
#define FIXTURE_INFO fixture_info
#endif

static const kw_device_api fixture_device_table = {.struct_size = sizeof(kw_device_api),
                                                   .count = FIXTURE_COUNT,
                                                   .info = FIXTURE_INFO,
                                                   .open = FIXTURE_OPEN,
                                                   .close = FIXTURE_CLOSE,
                                                   .attribute = FIXTURE_ATTRIBUTE};

#ifndef FIXTURE_MEMORY
static const kw_memory_api fixture_memory_table = {
    .struct_size = sizeof(kw_memory_api), .alloc = FIXTURE_ALLOC, .dealloc = fixture_free, .copy = FIXTURE_COPY};
#define FIXTURE_MEMORY &fixture_memory_table
#endif

#ifndef FIXTURE_STREAM
static const kw_stream_api fixture_stream_table = {.struct_size = sizeof(kw_stream_api),
                                                   .create = fixture_stream_create,
                                                   .destroy = fixture_stream_destroy,
                                                   .synchronize = fixture_stream_synchronize};
#define FIXTURE_STREAM &fixture_stream_table
#endif

#ifndef FIXTURE_PROBE
static kw_status fixture_probe(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}
#define FIXTURE_PROBE fixture_probe
#endif

#ifndef FIXTURE_INIT
static kw_status fixture_init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  FIXTURE_INIT_START
  fixture_host = host;
  kw_kernel_desc kernel = {.struct_size = sizeof kernel,
                           .op = "add.Tensor",
                           .name = "fast",
                           .dtypes = {{KW_DTYPE_BIT(KW_F32), 0}},
                           .known_args = 2,
                           .can_implement = fixture_can_add,
                           .launch = FIXTURE_LAUNCH};
  kw_status status = host->register_kernel(host->ctx, &kernel);
  kernel.name = "slow";
  kernel.priority = -1;
  if (status == KW_OK) status = host->register_kernel(host->ctx, &kernel);
  kernel.op = "div.Tensor";
  kernel.name = "off";
  kernel.priority = KW_PRIORITY_OFF;
  if (status == KW_OK) status = host->register_kernel(host->ctx, &kernel);
  *out_plugin = &fixture_state;
  return status;
}
#define FIXTURE_INIT fixture_init
#endif

#ifndef FIXTURE_SHUTDOWN
static kw_status fixture_shutdown(void *plugin) {
  if (plugin != &fixture_state) return KW_ERR_INTERNAL;
  return fixture_host->log(fixture_host->ctx, KW_LOG_INFO, "the fixture is shut down");
}
#define FIXTURE_SHUTDOWN fixture_shutdown
#endif

static const kw_group fixture_groups[] = {{KW_GROUP_DEVICE, &fixture_device_table},
                                          {KW_GROUP_MEMORY, FIXTURE_MEMORY},
                                          {KW_GROUP_STREAM, FIXTURE_STREAM},
                                          FIXTURE_MORE_GROUPS};

static const kw_plugin_desc fixture_desc = {.struct_size = FIXTURE_DESC_SIZE,
                                            .abi_version = FIXTURE_ABI,
                                            .key = FIXTURE_KEY,
                                            .vendor = FIXTURE_VENDOR,
                                            .version = "1.0",
                                            .description = FIXTURE_DESCRIPTION,
                                            .build = "",
                                            .sanitizer = "",
                                            .probe = FIXTURE_PROBE,
                                            .init = FIXTURE_INIT,
                                            .shutdown = FIXTURE_SHUTDOWN,
                                            .groups = fixture_groups,
                                            .group_count = sizeof fixture_groups / sizeof fixture_groups[0],
                                            .options = FIXTURE_OPTIONS,
                                            .option_count = FIXTURE_OPTION_COUNT};

KW_PLUGIN_EXPORT kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin,
                                               const char **out_reason) {
  (void)host;
  (void)out_reason;
  FIXTURE_QUERY_START
  *out_plugin = &fixture_desc;
  return KW_OK;
}

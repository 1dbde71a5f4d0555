/* SPDX-License-Identifier: Apache-2.0
 *
 * What the plugin is, and its device: query, probe, init, shutdown; count, info, open, close. The order is the order of
 * a plugin's life, as in keyway/plugin.h.
 */
#include "npu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kw_status npu_fail(const kw_host_api *host, kw_status status, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return host->set_error(host->ctx, status, text);
}

kw_status npu_check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next) {
  kw_status status = (flags & KW_FLAGS_CRITICAL) != 0 ? KW_ERR_UNSUPPORTED : kw_ext_check(next, NULL, 0);
  return status == KW_OK ? KW_OK
                         : npu_fail(host, status, "the call has a critical extension or flag that is not known here");
}

/* ---- 2. Probe: is there hardware? A real plugin asks its driver here, quickly and without starting threads. ----- */

static kw_status npu_probe(const char **out_reason) {
  (void)out_reason; /* the toy is always there */
  return KW_OK;
}

/* ---- 3. Init and shutdown --------------------------------------------------------------------------------------- */

static kw_status npu_init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_status status = npu_check_critical(host, 0, info->next);
  if (status != KW_OK) {
    return status;
  }
  npu_plugin *plugin = malloc(sizeof *plugin);
  if (plugin == NULL) {
    return npu_fail(host, KW_ERR_OUT_OF_MEMORY, "init: no host memory for the plugin's state (%zu bytes)",
                    sizeof *plugin);
  }
  plugin->host = host;
  status = npu_register_kernels(host);
  if (status != KW_OK) {
    free(plugin);
    return status;
  }
  *out_plugin = plugin;
  return KW_OK;
}

static kw_status npu_shutdown(void *plugin) {
  free(plugin);
  return KW_OK;
}

/* ---- 4. Devices ------------------------------------------------------------------------------------------------- */

static kw_status npu_device_count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 1;
  return KW_OK;
}

static kw_status check_index(const npu_plugin *plugin, uint32_t index) {
  if (index == 0) {
    return KW_OK;
  }
  return npu_fail(plugin->host, KW_ERR_INVALID_ARGUMENT, "there is one NPU, index 0; asked for index %u",
                  (unsigned)index);
}

static kw_status npu_device_info(void *plugin_ptr, uint32_t index, kw_device_info *out_info) {
  kw_status status = check_index(plugin_ptr, index);
  if (status != KW_OK) {
    return status;
  }
  out_info->type = KW_DEVICE_NPU;
  out_info->flags = KW_DEVICE_EMULATED; /* the CPU does the arithmetic: every list and report says so */
  out_info->compute_units = 1;
  snprintf(out_info->name, sizeof out_info->name, "Acme NPU (example, emulated)");
  snprintf(out_info->vendor, sizeof out_info->vendor, "Acme");
  snprintf(out_info->driver_version, sizeof out_info->driver_version, "1.0.0");
  snprintf(out_info->stable_id, sizeof out_info->stable_id, "acme:example-0");
  out_info->total_memory = NPU_MEMORY_BYTES;
  out_info->max_alloc = NPU_MEMORY_BYTES;
  out_info->mem_alignment = NPU_ALIGNMENT;
  out_info->offset_alignment = NPU_ALIGNMENT;
  return KW_OK;
}

/* What the info has no field for: keys of Keyway's (KW_ATTRIBUTE_LIST) and, in reverse DNS, of our own. */
static kw_status npu_device_attribute(void *plugin_ptr, uint32_t index, const char *key, kw_attribute *out_value) {
  const npu_plugin *plugin = plugin_ptr;
  kw_status status = check_index(plugin, index);
  if (status != KW_OK) {
    return status;
  }
  if (strcmp(key, "unified_memory") == 0) {
    out_value->type = KW_ATTRIBUTE_BOOL;
    out_value->u.b = false;
    return KW_OK;
  }
  if (strcmp(key, "com.acme.serial") == 0) {
    out_value->type = KW_ATTRIBUTE_STRING;
    out_value->u.s = "EXAMPLE-0";
    return KW_OK;
  }
  return npu_fail(plugin->host, KW_ERR_NOT_FOUND, "the NPU has no attribute '%.100s'", key);
}

/* The host checks keys and lists them to people; what a value means is ours. */
static const kw_option_desc queue_depth = {
    .struct_size = sizeof(kw_option_desc),
    .place = KW_OPTION_OPEN,
    .key = "queue_depth",
    .value = "64",
    .text = "commands that each stream has room for without asking the heap, 1 to 65536",
};
static const kw_option_desc *const npu_options[] = {&queue_depth};

static kw_status read_options(const npu_plugin *plugin, const kw_open_info *info, npu_device *device) {
  const char *value = kw_option_value(info->options, info->option_count, &queue_depth);
  if (kw_option_number(value, 1, 65536, &device->queue_depth)) {
    return KW_OK;
  }
  return npu_fail(plugin->host, KW_ERR_INVALID_ARGUMENT, "the option queue_depth is '%.100s': a number from 1 to 65536",
                  value);
}

static kw_status npu_device_open(void *plugin_ptr, uint32_t index, const kw_open_info *info, void **out_device) {
  const npu_plugin *plugin = plugin_ptr;
  kw_status status = check_index(plugin, index);
  if (status == KW_OK) {
    status = npu_check_critical(plugin->host, 0, info->next);
  }
  if (status != KW_OK) {
    return status;
  }
  npu_device *device = malloc(sizeof *device);
  npu_arena *arena = npu_arena_create();
  npu_activity *activity = npu_activity_create();
  if (device == NULL || arena == NULL || activity == NULL) {
    npu_activity_destroy(activity);
    npu_arena_destroy(arena);
    free(device);
    return npu_fail(plugin->host, KW_ERR_OUT_OF_MEMORY, "open: cannot reserve %llu bytes of address space",
                    (unsigned long long)NPU_MEMORY_BYTES);
  }
  status = read_options(plugin, info, device);
  if (status != KW_OK) {
    npu_activity_destroy(activity);
    npu_arena_destroy(arena);
    free(device);
    return status;
  }
  device->host = plugin->host;
  device->arena = arena;
  device->activity = activity;
  npu_order_init(&device->order);
  *out_device = device;
  return KW_OK;
}

static kw_status npu_device_close(void *device_ptr) {
  npu_device *device = device_ptr;
  npu_activity_destroy(device->activity);
  npu_order_destroy(&device->order);
  npu_arena_destroy(device->arena);
  free(device);
  return KW_OK;
}

static const kw_device_api npu_device_api = {
    .struct_size = sizeof(kw_device_api),
    .count = npu_device_count,
    .info = npu_device_info,
    .open = npu_device_open,
    .close = npu_device_close,
    .attribute = npu_device_attribute,
};

/* ---- 1. Query: the one exported symbol. The tables above and in the other files are all that it hands out. ------ */

#if defined(__SANITIZE_THREAD__)
#define NPU_SANITIZER "thread"
#elif defined(__SANITIZE_ADDRESS__)
#define NPU_SANITIZER "address"
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NPU_SANITIZER "thread"
#elif __has_feature(address_sanitizer)
#define NPU_SANITIZER "address"
#endif
#endif
#ifndef NPU_SANITIZER
#define NPU_SANITIZER ""
#endif

/* No event group and no memory.fill: the host derives both from what is here. */
static const kw_group npu_groups[] = {
    {KW_GROUP_DEVICE, &npu_device_api},   {KW_GROUP_MEMORY, &npu_memory_api},     {KW_GROUP_STREAM, &npu_stream_api},
    {KW_GROUP_INTEROP, &npu_interop_api}, {KW_GROUP_ACTIVITY, &npu_activity_api}, {KW_GROUP_TEST, &npu_test_api},
};

static const kw_plugin_desc npu_desc = {
    .struct_size = sizeof(kw_plugin_desc),
    .abi_version = KW_ABI_VERSION,
    .key = "npu",
    .vendor = "acme",
    .version = "1.0.0",
    .description = "Example vendor: a toy NPU with its own memory and asynchronous queues",
    .build = __VERSION__,
    .sanitizer = NPU_SANITIZER,
    .probe = npu_probe,
    .init = npu_init,
    .shutdown = npu_shutdown,
    .groups = npu_groups,
    .group_count = sizeof npu_groups / sizeof npu_groups[0],
    .option_count = sizeof npu_options / sizeof npu_options[0],
    .options = npu_options,
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  /* Older hosts of our major are served too: what came after 1.0 would be asked for with KW_HAS_FIELD. */
  return kw_query_answer(host, &npu_desc, out_plugin, out_reason);
}

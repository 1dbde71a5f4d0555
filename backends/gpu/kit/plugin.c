/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin over a driver: what it says of itself, its start and its end.
 */
#include "kit/activity.h"
#include "kit/device.h"
#include "kit/event.h"
#include "kit/graph.h"
#include "kit/interop.h"
#include "kit/memory.h"
#include "kit/process.h"
#include "kit/stream.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_LIMIT 16
#define OPTION_LIMIT 16

/* What this library answers to a query: made at the first, the same ever after. */
static struct {
  pthread_mutex_t lock;
  const kw_gpu_driver *driver;
  kw_memory_api memory;
  kw_stream_api stream;
  kw_event_api event;
  kw_group groups[GROUP_LIMIT];
  const kw_option_desc *options[OPTION_LIMIT];
  kw_plugin_desc desc;
} answer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static kw_status probe(const char **out_reason) {
  kw_gpu_process before;
  if (!answer.driver->probe) return KW_OK;
  kw_gpu_process_take(&before);
  kw_status status = answer.driver->probe(out_reason);
  kw_gpu_process_set_back(&before);
  return status;
}

static kw_status shutdown(void *state) {
  kw_gpu_plugin *plugin = state;
  free(plugin->list.items);
  free(plugin);
  return KW_OK;
}

static kw_status start(kw_gpu_plugin *plugin) {
  bool has_f64 = false;
  kw_status status = kw_gpu_devices_find(plugin);
  if (status != KW_OK) return status;
  for (uint32_t i = 0; i < plugin->list.count; ++i)
    has_f64 = has_f64 || kw_gpu_has_f64(plugin->driver, &plugin->list.items[i]);
  status = kw_gpu_register(plugin->host, has_f64);
  if (status == KW_OK && plugin->driver->register_kernels)
    status = plugin->driver->register_kernels(plugin->host, has_f64);
  return status;
}

static kw_status init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_status status = kw_gpu_check_critical(host, 0, info->next);
  if (status != KW_OK) return status;
  kw_gpu_plugin *plugin = calloc(1, sizeof *plugin);
  if (!plugin) return kw_gpu_error(host, KW_ERR_OUT_OF_MEMORY, "no host memory for the plugin");
  plugin->driver = answer.driver;
  plugin->host = host;
  plugin->list.host = host;
  plugin->list.info = info;
  status = start(plugin);
  plugin->list.info = NULL;
  if (status == KW_OK) {
    *out_plugin = plugin;
  } else {
    shutdown(plugin);
  }
  return status;
}

/* ---- The answer to a query --------------------------------------------------------------------------------------- */

static void add_group(const char *name, const void *table) {
  answer.groups[answer.desc.group_count++] = (kw_group){name, table};
}

static void add_option(const kw_option_desc *option) {
  answer.options[answer.desc.option_count++] = option;
}

static void make(const kw_gpu_driver *driver) {
  answer.desc = (kw_plugin_desc){
      .struct_size = sizeof answer.desc,
      .abi_version = KW_ABI_VERSION,
      .key = driver->key,
      .vendor = driver->vendor,
      .version = driver->version,
      .description = driver->description,
      .build = driver->build,
      .sanitizer = driver->sanitizer,
      .probe = probe,
      .init = init,
      .shutdown = shutdown,
      .groups = answer.groups,
      .options = answer.options,
  };
  answer.memory = kw_gpu_memory_slots(driver);
  answer.stream = kw_gpu_stream_slots(driver);
  answer.event = kw_gpu_event_slots();
  add_group(KW_GROUP_DEVICE, &kw_gpu_device_slots);
  add_group(KW_GROUP_MEMORY, &answer.memory);
  add_group(KW_GROUP_STREAM, &answer.stream);
  if (driver->event_record) add_group(KW_GROUP_EVENT, &answer.event);
  if (driver->host_register) add_group(KW_GROUP_INTEROP, &kw_gpu_interop_slots);
  if (driver->mark_times) add_group(KW_GROUP_ACTIVITY, &kw_gpu_activity_slots);
  add_group(KW_GROUP_GRAPH, &kw_gpu_graph_slots);
  for (uint32_t i = 0; i < driver->group_count && answer.desc.group_count < GROUP_LIMIT; ++i)
    if (strcmp(driver->groups[i].name, KW_GROUP_GRAPH) != 0) add_group(driver->groups[i].name, driver->groups[i].table);
  for (uint32_t i = 0; i < KW_GPU_OPTION_COUNT; ++i) add_option(kw_gpu_options[i]);
  for (uint32_t i = 0; i < driver->option_count && answer.desc.option_count < OPTION_LIMIT; ++i)
    add_option(driver->options[i]);
  answer.driver = driver;
}

kw_status kw_gpu_query(const kw_gpu_driver *driver, const kw_query_info *host, const kw_plugin_desc **out_plugin,
                       const char **out_reason) {
  pthread_mutex_lock(&answer.lock);
  if (!answer.driver) make(driver);
  pthread_mutex_unlock(&answer.lock);
  return kw_query_answer(host, &answer.desc, out_plugin, out_reason);
}

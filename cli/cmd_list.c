/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway list`: the devices there are.
 */
#include "commands.h"
#include "table.h"

#include <keyway/keyway.h>

#include <stdlib.h>
#include <string.h>

static const char *type_name(kw_device_type type) {
  static const char *const names[] = {"other", "cpu", "gpu", "npu", "fpga"};
  return type < sizeof names / sizeof names[0] ? names[type] : "other";
}

static cJSON *entry_as_json(const kw_device_entry *entry, const kw_plugin_report *plugin) {
  const kw_device_info *info = entry->info;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", entry->name);
  cJSON_AddStringToObject(json, "qualified_name", entry->qualified_name);
  cJSON_AddStringToObject(json, "type", type_name(info->type));
  cJSON_AddBoolToObject(json, "emulated", (info->flags & KW_DEVICE_EMULATED) != 0);
  cJSON_AddStringToObject(json, "product", info->name);
  cJSON_AddStringToObject(json, "vendor", info->vendor);
  cJSON_AddStringToObject(json, "driver_version", info->driver_version);
  cJSON_AddStringToObject(json, "stable_id", info->stable_id);
  cJSON_AddStringToObject(json, "parent_id", info->parent_id);
  cJSON_AddNumberToObject(json, "compute_units", info->compute_units);
  cJSON_AddNumberToObject(json, "total_memory", (double)info->total_memory);
  cJSON_AddNumberToObject(json, "max_alloc", (double)info->max_alloc);
  cJSON_AddNumberToObject(json, "mem_alignment", info->mem_alignment);
  cJSON_AddStringToObject(json, "plugin", plugin->path);
  cJSON_AddStringToObject(json, "plugin_version", plugin->version);
  return json;
}

static void add_row(kw_cli_table *table, const kw_device_entry *entry, const kw_plugin_report *plugin) {
  const kw_device_info *info = entry->info;
  char bytes[24];
  kw_cli_table_add(table, "%s", entry->name);
  kw_cli_table_add(table, "%s", type_name(info->type));
  const bool mark = info->flags & KW_DEVICE_EMULATED && !strstr(info->name, "emulated");
  kw_cli_table_add(table, "%s%s", info->name, mark ? " (emulated)" : "");
  kw_cli_table_add(table, "%s", info->total_memory ? kw_cli_bytes(info->total_memory, bytes) : "-");
  if (info->compute_units) {
    kw_cli_table_add(table, "%u", info->compute_units);
  } else {
    kw_cli_table_add(table, "-");
  }
  kw_cli_table_add(table, "%s", *info->driver_version ? info->driver_version : "-");
  kw_cli_table_add(table, "%s", entry->qualified_name);
  kw_cli_table_add(table, "%s", plugin->version);
}

static int run(const kw_cli_args *args) {
  if (!kw_cli_load_plugins(args)) return KW_CLI_USAGE;
  uint32_t count;
  if (kw_device_count(&count) != KW_OK) {
    kw_cli_complain(&kw_cli_list, "%s", kw_error_message());
    return KW_CLI_FAILED;
  }
  const bool as_json = kw_cli_args_has(args, "--json");
  cJSON *json = cJSON_CreateObject(), *devices = cJSON_AddArrayToObject(json, "devices");
  kw_cli_table *table = as_json ? NULL
                                : kw_cli_table_create((const char *[]){"DEVICE", "TYPE", "PRODUCT", ">MEMORY", ">UNITS",
                                                                       "DRIVER", "LONG NAME", "VERSION", NULL});
  int code = KW_CLI_OK;
  for (uint32_t i = 0; i < count; ++i) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_plugin_report plugin = {.struct_size = sizeof plugin};
    if (kw_device_get_entry(i, &entry) != KW_OK || kw_plugin_get_report(entry.plugin, &plugin) != KW_OK) {
      kw_cli_complain(&kw_cli_list, "%s", kw_error_message());
      code = KW_CLI_FAILED;
      continue;
    }
    if (as_json) {
      cJSON_AddItemToArray(devices, entry_as_json(&entry, &plugin));
    } else {
      add_row(table, &entry, &plugin);
    }
  }
  if (count == 0) kw_cli_complain(&kw_cli_list, "no devices; 'keyway doctor' says why");
  if (as_json) return kw_cli_json_print(json) ? code : KW_CLI_FAILED;
  cJSON_Delete(json);
  kw_cli_table_print(table);
  return code;
}

static const kw_cli_option options[] = {KW_CLI_OPTION_JSON, KW_CLI_OPTION_PLUGIN};
const kw_cli_command kw_cli_list = {
    .name = "list",
    .synopsis = "[--json] [--plugin FILE]...",
    .summary = "List the devices that plugins bring",
    .details =
        "Names in the first column are what applications open: npu:0, or its long form acme.npu:0.\n"
        "A device that is missing here: see 'keyway doctor'.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run,
};

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

static const char *const attribute_keys[] = {
#define KW_ROW(key, type) key,
    KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
};
enum { ATTRIBUTE_COUNT = sizeof attribute_keys / sizeof attribute_keys[0] };

/* False where the plugin does not tell. */
static bool get_attribute(uint32_t index, const char *key, kw_attribute *out_value) {
  *out_value = (kw_attribute){.struct_size = sizeof *out_value};
  return kw_device_get_entry_attribute(index, key, out_value) == KW_OK;
}

static cJSON *attributes_as_json(uint32_t index) {
  cJSON *json = cJSON_CreateObject();
  kw_attribute value;
  for (uint32_t i = 0; i < ATTRIBUTE_COUNT; ++i) {
    if (!get_attribute(index, attribute_keys[i], &value)) continue;
    cJSON_AddItemToObject(json, attribute_keys[i],
                          value.type == KW_ATTRIBUTE_STRING  ? cJSON_CreateString(value.u.s)
                          : value.type == KW_ATTRIBUTE_BOOL  ? cJSON_CreateBool(value.u.b)
                          : value.type == KW_ATTRIBUTE_FLOAT ? cJSON_CreateNumber(value.u.f)
                                                             : cJSON_CreateNumber((double)value.u.i));
  }
  return json;
}

/* "unified_memory=yes, numa_node=0" */
static void note_attributes(kw_cli_table *table, uint32_t index) {
  char text[1024] = "";
  kw_attribute value;
  for (uint32_t i = 0; i < ATTRIBUTE_COUNT; ++i) {
    if (!get_attribute(index, attribute_keys[i], &value)) continue;
    const size_t used = strlen(text), room = sizeof text - used;
    const char *key = attribute_keys[i], *separator = used > 0 ? ", " : "";
    if (value.type == KW_ATTRIBUTE_STRING) {
      snprintf(text + used, room, "%s%s=%s", separator, key, value.u.s);
    } else if (value.type == KW_ATTRIBUTE_FLOAT) {
      snprintf(text + used, room, "%s%s=%g", separator, key, value.u.f);
    } else if (value.type == KW_ATTRIBUTE_BOOL) {
      snprintf(text + used, room, "%s%s=%s", separator, key, value.u.b ? "yes" : "no");
    } else {
      const char *form = strncmp(key, "pci_", 4) == 0 ? "%s%s=0x%04llx" : "%s%s=%lld";
      snprintf(text + used, room, form, separator, key, (long long)value.u.i);
    }
  }
  if (*text) kw_cli_table_note(table, "%s", text);
}

/* ---- The same chip twice ----------------------------------------------------------------------------------------- */

static const char *chip_of(const kw_device_info *info) {
  return *info->parent_id ? info->parent_id : info->stable_id;
}

/* By what their plugins call it; and all that are of type cpu are this machine's processors. */
static bool is_same_chip(const kw_device_info *a, const kw_device_info *b) {
  if (a->type == KW_DEVICE_CPU && b->type == KW_DEVICE_CPU) return true;
  return *chip_of(a) && strcmp(chip_of(a), chip_of(b)) == 0;
}

/* The first device in the list that is on this one's chip, with a name of its own; false: there is none before it. */
static bool first_on_chip(uint32_t index, const kw_device_entry *entry, kw_device_entry *out_first) {
  for (uint32_t i = 0; i < index; i++) {
    *out_first = (kw_device_entry){.struct_size = sizeof *out_first};
    if (kw_device_get_entry(i, out_first) == KW_OK && is_same_chip(out_first->info, entry->info)) return true;
  }
  return false;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static cJSON *entry_as_json(uint32_t index, const kw_device_entry *entry, const kw_plugin_report *plugin) {
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
  kw_device_entry first;
  cJSON_AddStringToObject(json, "same_chip_as", first_on_chip(index, entry, &first) ? first.qualified_name : "");
  cJSON_AddNumberToObject(json, "compute_units", info->compute_units);
  cJSON_AddNumberToObject(json, "total_memory", (double)info->total_memory);
  cJSON_AddNumberToObject(json, "max_alloc", (double)info->max_alloc);
  cJSON_AddNumberToObject(json, "mem_alignment", info->mem_alignment);
  cJSON_AddItemToObject(json, "attributes", attributes_as_json(index));
  cJSON_AddStringToObject(json, "plugin", plugin->path);
  cJSON_AddStringToObject(json, "plugin_version", plugin->version);
  cJSON_AddBoolToObject(json, "isolated", plugin->isolated != 0);
  return json;
}

static void add_row(kw_cli_table *table, uint32_t index, const kw_device_entry *entry, const kw_plugin_report *plugin) {
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
  kw_device_entry first;
  if (first_on_chip(index, entry, &first)) kw_cli_table_note(table, "the same chip as %s", first.name);
  note_attributes(table, index);
  if (plugin->isolated) kw_cli_table_note(table, "its plugin runs in a process of its own");
}

/* Plugins that are there for no device, as far as they say why: somebody may look for it here. */
static void tell_of_none(void) {
  kw_plugin_report plugin = {.struct_size = sizeof plugin};
  for (uint32_t i = 0; kw_plugin_get_report(i, &plugin) == KW_OK; ++i) {
    if (plugin.status != KW_OK || plugin.device_count > 0 || !*plugin.reason) continue;
    kw_cli_complain(&kw_cli_list, "%s.%s has no device: %s", plugin.vendor, plugin.key, plugin.reason);
  }
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
      cJSON_AddItemToArray(devices, entry_as_json(i, &entry, &plugin));
    } else {
      add_row(table, i, &entry, &plugin);
    }
  }
  tell_of_none();
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
        "Names in the first column are what applications open: npu:0, or its long form acme.npu:0, with options of\n"
        "its plugin, npu:0/queue_depth=128, or without. Below stands what else the plugin tells of a device, and\n"
        "whether another device is the same chip, which two drivers may offer: it computes once for both.\n"
        "A device that is missing here: see 'keyway doctor'.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run,
};

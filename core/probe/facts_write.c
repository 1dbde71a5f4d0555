/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts as JSON: texts made clean first, numbers of 64 bits as texts.
 */
#include "probe/facts_write.h"

#include "base/error.h"
#include "base/utf8.h"
#include "device/device.h"
#include "plugin/facts.h"
#include "probe/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One line, and clean. */
static const char *clean(const char *text, char line[3 * 1024 + 1]) {
  kw_utf8_mend(line, 3 * 1024 + 1, text != NULL ? text : "");
  for (char *c = line; *c != '\0'; c++)
    if (*c == '\n') *c = ' ';
  return line;
}

static void add_text(cJSON *object, const char *name, const char *text) {
  char line[3 * 1024 + 1];
  cJSON_AddStringToObject(object, name, clean(text, line));
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static void add_bytes(cJSON *object, const char *name, const void *bytes, size_t size) {
  char text[2 * sizeof(kw_device_info) + 1] = "";
  for (size_t i = 0; i < size; i++) snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
  cJSON_AddStringToObject(object, name, text);
}

static void format_value(const kw_attribute *value, char text[64]) {
  switch (value->type) {
    case KW_ATTRIBUTE_INT:
      snprintf(text, 64, "%" PRId64, value->u.i);
      break;
    case KW_ATTRIBUTE_FLOAT:
      snprintf(text, 64, "%a", value->u.f);
      break;
    default:
      snprintf(text, 64, "%d", value->u.b);
      break;
  }
}

static void add_attribute(cJSON *object, kw_plugin *plugin, uint32_t index, const char *key) {
  kw_attribute value = {.struct_size = sizeof value};
  if (kw_device_read_attribute(plugin, index, key, &value) != KW_OK) return;
  char text[64], line[3 * 1024 + 1];
  cJSON *pair = cJSON_AddArrayToObject(object, key);
  cJSON_AddItemToArray(pair, cJSON_CreateNumber(value.type));
  if (value.type != KW_ATTRIBUTE_STRING) format_value(&value, text);
  cJSON_AddItemToArray(pair, cJSON_CreateString(value.type == KW_ATTRIBUTE_STRING ? clean(value.u.s, line) : text));
}

static cJSON *ask_device(kw_plugin *plugin, uint32_t index) {
  static const char *const keys[] = {
#define KW_ROW(name, of_type) name,
      KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
  };
  cJSON *device = cJSON_CreateObject();
  kw_device_info info = {.struct_size = sizeof info};
  const kw_status status = kw_device_read_info(plugin, index, &info);
  if (status != KW_OK) {
    char reason[1024];
    cJSON_AddNumberToObject(device, "status", status);
    add_text(device, "reason", kw_error_sentence(reason, sizeof reason));
    return device;
  }
  add_bytes(device, "info", &info, sizeof info);
  cJSON *attributes = cJSON_AddObjectToObject(device, "attributes");
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) add_attribute(attributes, plugin, index, keys[k]);
  return device;
}

cJSON *kw_facts_ask_devices(kw_plugin *plugin) {
  cJSON *devices = cJSON_CreateArray();
  const uint32_t count = atomic_load(&plugin->device_count);
  for (uint32_t i = 0; i < count; i++) cJSON_AddItemToArray(devices, ask_device(plugin, i));
  return devices;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void add_options(cJSON *facts, const kw_plugin_desc *desc) {
  char line[3 * 1024 + 1];
  cJSON *options = cJSON_AddArrayToObject(facts, "options");
  for (uint32_t i = 0; i < desc->option_count; i++) {
    const kw_option_desc *option = desc->options[i];
    cJSON *row = cJSON_CreateArray();
    cJSON_AddItemToArray(options, row);
    cJSON_AddItemToArray(row, cJSON_CreateString(clean(option->key, line)));
    cJSON_AddItemToArray(row, cJSON_CreateString(clean(option->value, line)));
    cJSON_AddItemToArray(row, cJSON_CreateString(clean(option->text, line)));
    cJSON_AddItemToArray(row, cJSON_CreateNumber(option->place));
  }
}

cJSON *kw_facts_write(const kw_plugin *plugin, kw_stage reached, kw_status status, const char *reason, cJSON *devices) {
  const bool last = devices != NULL;
  const kw_plugin_desc *desc = &plugin->desc;
  char native[24];
  cJSON *facts = cJSON_CreateObject();
  snprintf(native, sizeof native, "%" PRIx64, plugin->native);
  cJSON_AddNumberToObject(facts, "reached", reached);
  cJSON_AddNumberToObject(facts, "status", status);
  add_text(facts, "reason", reason);
  cJSON_AddNumberToObject(facts, "abi", desc->abi_version);
  add_text(facts, "key", desc->key);
  add_text(facts, "vendor", desc->vendor);
  add_text(facts, "version", desc->version);
  add_text(facts, "description", desc->description);
  add_text(facts, "build", desc->build);
  add_text(facts, "sanitizer", desc->sanitizer);
  cJSON_AddStringToObject(facts, "native", native);
  cJSON_AddNumberToObject(facts, "kernels", plugin->kernel_count);
  add_options(facts, desc);
  cJSON_AddItemToObject(facts, "devices", last ? devices : cJSON_CreateArray());
  cJSON_AddItemToObject(facts, "variables", last ? kw_watch_variables() : cJSON_CreateArray());
  cJSON_AddItemToObject(facts, "folders", last ? kw_watch_folders() : cJSON_CreateArray());
  cJSON_AddItemToObject(facts, "libraries", last ? kw_watch_libraries() : cJSON_CreateArray());
  return facts;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts read from JSON: each member has to be of its type and within its limits.
 */
#include "plugin/facts.h"

#include "base/utf8.h"
#include "plugin/negotiate.h"

#include <stdlib.h>
#include <string.h>

static const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool read_number(const cJSON *object, const char *name, uint32_t most, uint32_t *out_number) {
  const cJSON *item = member(object, name);
  if (!cJSON_IsNumber(item)) return false;
  const double value = item->valuedouble;
  if (!(value >= 0 && value <= most) || value != (double)(uint32_t)value) return false;
  *out_number = (uint32_t)value;
  return true;
}

static bool read_status(const cJSON *object, kw_status *out_status) {
  uint32_t number;
  if (!read_number(object, "status", KW_ERR_INTERNAL, &number)) return false;
  *out_status = (kw_status)number;
  return true;
}

/* A text for people, or NULL. */
static const char *clean_text(const cJSON *item) {
  const char *text = cJSON_GetStringValue(item);
  return text != NULL && kw_text_is_clean(text) && strchr(text, '\n') == NULL ? text : NULL;
}

static bool read_text(const cJSON *object, const char *name, const char **out_text) {
  const char *text = clean_text(member(object, name));
  if (text == NULL) return false;
  *out_text = text;
  return true;
}

static bool read_hexadecimal(const char *text, void *to, size_t size) {
  if (text == NULL || strlen(text) != 2 * size) return false;
  for (size_t i = 0; i < size; i++) {
    char digits[3] = {text[2 * i], text[2 * i + 1], '\0'}, *end;
    ((unsigned char *)to)[i] = (unsigned char)strtoul(digits, &end, 16);
    if (*end != '\0' || strspn(digits, "0123456789abcdef") != 2) return false;
  }
  return true;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Room for what a list holds. False when it is none, too long, or memory is out. */
static bool read_list(const cJSON *list, uint32_t most, size_t size, void **out_items, uint32_t *out_count) {
  if (list == NULL || !(cJSON_IsArray(list) || cJSON_IsObject(list))) return false;
  const int count = cJSON_GetArraySize(list);
  if (count < 0 || (uint32_t)count > most) return false;
  *out_items = calloc((size_t)count + 1, size);
  if (*out_items == NULL) return false;
  *out_count = (uint32_t)count;
  return true;
}

static bool read_option(const cJSON *item, kw_option_desc *option) {
  const char *key = clean_text(cJSON_GetArrayItem(item, 0)), *value = clean_text(cJSON_GetArrayItem(item, 1));
  const char *text = clean_text(cJSON_GetArrayItem(item, 2));
  const cJSON *place = cJSON_GetArrayItem(item, 3);
  if (key == NULL || value == NULL || text == NULL || !kw_word_is_valid(key) || !cJSON_IsNumber(place)) return false;
  *option = (kw_option_desc){.struct_size = sizeof *option, .key = key, .value = value, .text = text};
  option->place = (kw_option_place)place->valueint;
  return true;
}

/* The descriptions lie behind the pointers to them, in one block. */
static bool read_options(kw_plugin_facts *facts) {
  const cJSON *list = member(facts->document, "options"), *item = list != NULL ? list->child : NULL;
  const size_t size = sizeof(kw_option_desc *) + sizeof(kw_option_desc);
  if (!read_list(list, KW_OPTION_LIMIT, size, (void **)&facts->options, &facts->option_count)) return false;
  kw_option_desc *descs = (kw_option_desc *)(void *)(facts->options + facts->option_count);
  for (uint32_t i = 0; i < facts->option_count; i++, item = item->next) {
    if (!read_option(item, &descs[i])) return false;
    facts->options[i] = &descs[i];
  }
  return true;
}

static bool read_attribute(const cJSON *item, kw_attribute_facts *attribute) {
  const cJSON *type = cJSON_GetArrayItem(item, 0);
  const char *text = clean_text(cJSON_GetArrayItem(item, 1));
  if (item->string == NULL || !cJSON_IsNumber(type) || text == NULL) return false;
  attribute->key = item->string;
  kw_attribute *value = &attribute->value;
  *value = (kw_attribute){.struct_size = sizeof *value, .type = (kw_attribute_type)type->valueint};
  char *end = NULL;
  switch (value->type) {
    case KW_ATTRIBUTE_INT:
      value->u.i = strtoll(text, &end, 10);
      return end != text && *end == '\0';
    case KW_ATTRIBUTE_FLOAT:
      value->u.f = strtod(text, &end);
      return end != text && *end == '\0';
    case KW_ATTRIBUTE_BOOL:
      value->u.b = text[0] == '1';
      return strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
    case KW_ATTRIBUTE_STRING:
      value->u.s = text;
      return strlen(text) <= KW_ATTRIBUTE_TEXT_LIMIT;
    default:
      return false;
  }
}

static bool read_device(const cJSON *item, kw_device_facts *device) {
  if (member(item, "status") != NULL) {
    return read_status(item, &device->status) && device->status != KW_OK && read_text(item, "reason", &device->reason);
  }
  if (!read_hexadecimal(cJSON_GetStringValue(member(item, "info")), &device->info, sizeof device->info)) return false;
  const cJSON *list = member(item, "attributes"), *attribute = list != NULL ? list->child : NULL;
  if (!read_list(list, 64, sizeof *device->attributes, (void **)&device->attributes, &device->attribute_count)) {
    return false;
  }
  for (uint32_t i = 0; i < device->attribute_count; i++, attribute = attribute->next)
    if (!read_attribute(attribute, &device->attributes[i])) return false;
  return true;
}

static bool read_devices(kw_plugin_facts *facts) {
  const cJSON *list = member(facts->document, "devices"), *item = list != NULL ? list->child : NULL;
  if (!read_list(list, KW_DEVICE_LIMIT, sizeof *facts->devices, (void **)&facts->devices, &facts->device_count)) {
    return false;
  }
  for (uint32_t i = 0; i < facts->device_count; i++, item = item->next)
    if (!read_device(item, &facts->devices[i])) return false;
  return true;
}

/* Names of what was looked at, absent or absolute where they are paths. */
static bool check_seen(const kw_plugin_facts *facts, const char *list, bool paths) {
  const cJSON *names = member(facts->document, list), *name;
  if (!cJSON_IsArray(names)) return false;
  cJSON_ArrayForEach(name, names) {
    const char *text = cJSON_GetStringValue(name);
    if (text == NULL || text[0] == '\0' || (paths && text[0] != '/')) return false;
  }
  return true;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool can_be_word(const char *word) {
  return word[0] == '\0' || (kw_word_is_valid(word) && !kw_word_is_policy(word));
}

static bool read_all(kw_plugin_facts *facts) {
  const cJSON *document = facts->document;
  if (!cJSON_IsObject(document)) return false;
  if (!read_number(document, "reached", KW_STAGE_INIT, &facts->reached)) return false;
  if (!read_status(document, &facts->status)) return false;
  if ((facts->status == KW_OK) != (facts->reached == KW_STAGE_INIT)) return false;
  if (!read_number(document, "abi", UINT32_MAX, &facts->abi_version)) return false;
  if (!read_number(document, "kernels", UINT32_MAX, &facts->kernel_count)) return false;
  const struct {
    const char *name, **text;
  } texts[] = {{"reason", &facts->reason},          {"key", &facts->key},     {"vendor", &facts->vendor},
               {"version", &facts->version},        {"build", &facts->build}, {"sanitizer", &facts->sanitizer},
               {"description", &facts->description}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (!read_text(document, texts[i].name, texts[i].text)) return false;
  const char *native = cJSON_GetStringValue(member(document, "native"));
  char *end = NULL;
  if (native != NULL) facts->native = strtoull(native, &end, 16);
  if (end == NULL || end == native || *end != '\0') return false;
  if (!can_be_word(facts->key) || !can_be_word(facts->vendor)) return false;
  if (facts->status == KW_OK && (facts->key[0] == '\0' || facts->vendor[0] == '\0')) return false;
  if (!check_seen(facts, "variables", false) || !check_seen(facts, "folders", true)) return false;
  return check_seen(facts, "libraries", true) && read_options(facts) && read_devices(facts);
}

kw_plugin_facts *kw_facts_take(cJSON *document) {
  kw_plugin_facts *facts = calloc(1, sizeof *facts);
  if (facts == NULL) {
    cJSON_Delete(document);
    return NULL;
  }
  facts->document = document;
  if (read_all(facts)) return facts;
  kw_facts_free(facts);
  return NULL;
}

kw_plugin_facts *kw_facts_read(const char *text, size_t length) {
  cJSON *document = cJSON_ParseWithLength(text, length);
  return document != NULL ? kw_facts_take(document) : NULL;
}

kw_plugin_facts *kw_facts_of_stage(kw_stage reached) {
  static const char *const empty[] = {"reason", "key", "vendor", "version", "description", "build", "sanitizer"};
  static const char *const lists[] = {"options", "devices", "variables", "folders", "libraries"};
  cJSON *document = cJSON_CreateObject();
  cJSON_AddNumberToObject(document, "reached", reached);
  cJSON_AddNumberToObject(document, "status", KW_ERR_INTERNAL);
  cJSON_AddNumberToObject(document, "abi", 0);
  cJSON_AddNumberToObject(document, "kernels", 0);
  cJSON_AddStringToObject(document, "native", "0");
  for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) cJSON_AddStringToObject(document, empty[i], "");
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) cJSON_AddArrayToObject(document, lists[i]);
  return document != NULL ? kw_facts_take(document) : NULL;
}

void kw_facts_free(kw_plugin_facts *facts) {
  if (facts == NULL) return;
  for (uint32_t i = 0; facts->devices != NULL && i < facts->device_count; i++) free(facts->devices[i].attributes);
  free(facts->devices);
  free((void *)facts->options);
  cJSON_Delete(facts->document);
  free(facts);
}

bool kw_facts_refuse(kw_plugin_facts *facts, kw_status status, const char *reason) {
  /* Its helper may have had all stages behind it, and ended then. */
  const kw_stage reached = facts->reached < KW_STAGE_INIT ? facts->reached : KW_STAGE_PROBE;
  cJSON *text = cJSON_CreateString(reason), *number = cJSON_CreateNumber(status);
  cJSON *stage = cJSON_CreateNumber(reached);
  if (text == NULL || number == NULL || stage == NULL) {
    cJSON_Delete(text);
    cJSON_Delete(number);
    cJSON_Delete(stage);
    return false;
  }
  cJSON_ReplaceItemInObjectCaseSensitive(facts->document, "reason", text);
  cJSON_ReplaceItemInObjectCaseSensitive(facts->document, "status", number);
  cJSON_ReplaceItemInObjectCaseSensitive(facts->document, "reached", stage);
  facts->reason = text->valuestring;
  facts->status = status;
  facts->reached = reached;
  return true;
}

const kw_attribute *kw_facts_attribute(const kw_plugin_facts *facts, uint32_t device, const char *key) {
  if (device >= facts->device_count) return NULL;
  const kw_device_facts *of = &facts->devices[device];
  for (uint32_t i = 0; i < of->attribute_count; i++)
    if (strcmp(of->attributes[i].key, key) == 0) return &of->attributes[i].value;
  return NULL;
}

const char *kw_facts_seen(const kw_plugin_facts *facts, const char *list, uint32_t index) {
  return cJSON_GetStringValue(cJSON_GetArrayItem(member(facts->document, list), (int)index));
}

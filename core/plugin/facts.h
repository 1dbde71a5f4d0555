/* SPDX-License-Identifier: Apache-2.0
 *
 * What the helper process (probe.h) saw of a plugin: how far it came, what it is, which devices it has. This is all
 * that the library knows of a plugin until one of its devices is asked for. The helper ran the plugin's code, so
 * nothing that it says is trusted: a text of facts is read whole or not at all.
 *
 * The text is a JSON object, which the probe cache keeps as well:
 *
 *     reached, status, reason     kw_stage and kw_status; why not, or a remark
 *     abi, key, vendor, version, description, build, sanitizer      the query's answer
 *     native                      KW_NATIVE_*, hexadecimal
 *     kernels                     how many it registered
 *     options                     [[key, value, text, place], ...]
 *     devices                     [{"info": the bytes of kw_device_info in hexadecimal,
 *                                   "attributes": {key: [kw_attribute_type, value as text], ...}}, ...]; one that could
 *                                 not be asked has "status" and "reason" instead
 *     variables, folders, libraries    names of what the plugin, and libraries that it needs, have looked at: variables
 *                                 of the environment, directories they listed, files loaded into the process
 */
#ifndef KEYWAY_CORE_FACTS_H
#define KEYWAY_CORE_FACTS_H

#include <cJSON.h>
#include <keyway/keyway.h>
#include <keyway/plugin.h>

typedef struct kw_attribute_facts {
  const char *key;
  kw_attribute value;
} kw_attribute_facts;

typedef struct kw_device_facts {
  kw_status status; /* of asking it: KW_OK, otherwise `reason` says why not and the rest is empty */
  const char *reason;
  kw_device_info info; /* as the plugin filled it: not checked */
  uint32_t attribute_count;
  kw_attribute_facts *attributes;
} kw_device_facts;

/* Texts lie in `document`; those of no plugin that answered are "". */
typedef struct kw_plugin_facts {
  kw_stage reached;
  kw_status status; /* KW_OK when reached == KW_STAGE_INIT */
  const char *reason;
  uint32_t abi_version, kernel_count, option_count, device_count;
  uint64_t native;
  const char *key, *vendor, *version, *description, *build, *sanitizer;
  const kw_option_desc **options;
  kw_device_facts *devices;
  cJSON *document;
  struct kw_plugin_facts *former; /* of an earlier try: reports that applications hold lead there */
} kw_plugin_facts;

/* More devices than any plugin has: a count that is garbage. */
#define KW_DEVICE_LIMIT 4096u

/* Reads a text of `length` bytes, or a document, which it takes over. NULL without a message where it is no facts, or,
 * with errno ENOMEM, memory is out. */
kw_plugin_facts *kw_facts_read(const char *text, size_t length);
kw_plugin_facts *kw_facts_take(cJSON *document);
/* Facts about a plugin of which nothing is known but how far it came. NULL when memory is out. */
kw_plugin_facts *kw_facts_of_stage(kw_stage reached);
void kw_facts_free(kw_plugin_facts *facts); /* NULL is fine */

/* Makes them facts about a plugin that failed. False, and they are as before, when memory is out. */
bool kw_facts_refuse(kw_plugin_facts *facts, kw_status status, const char *reason);

/* The attribute of a device, or NULL. */
const kw_attribute *kw_facts_attribute(const kw_plugin_facts *facts, uint32_t device, const char *key);

/* The names of what it looked at: item `index` of the list "variables", "folders" or "libraries"; NULL behind its end.
 */
const char *kw_facts_seen(const kw_plugin_facts *facts, const char *list, uint32_t index);

#endif /* KEYWAY_CORE_FACTS_H */

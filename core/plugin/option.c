/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of settings, and the rows of a plugin's table that they stand for.
 */
#include "plugin/option.h"

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_LIMIT 127u /* bytes of a whole key: three words and their dots are shorter */

/* What kw_init was given, and what KEYWAY_OPTIONS says. Constant once the library has started. */
static kw_options given_at_start, from_environment;

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* The value of a key, or NULL. */
static const char *find(const kw_options *options, const char *key) {
  for (uint32_t i = 0; i < options->count; i++)
    if (strcmp(options->items[i].key, key) == 0) return options->items[i].value;
  return NULL;
}

void kw_options_free(kw_options *options) {
  for (uint32_t i = 0; i < options->count; i++) free((char *)options->items[i].key); /* the value lies behind it */
  free(options->items);
  *options = (kw_options){0};
}

static kw_status add(kw_options *options, const char *where, const char *key, size_t key_length, const char *value,
                     size_t value_length) {
  if (key_length == 0 || key_length > KEY_LIMIT || value_length > KW_OPTION_VALUE_LIMIT) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: '%.*s' cannot be an option: keys have 1 to %u bytes, values at most %u", where,
                   (int)(key_length > KEY_LIMIT ? KEY_LIMIT : key_length), key, KEY_LIMIT, KW_OPTION_VALUE_LIMIT);
  }
  kw_option *items = kw_array_grow(options->items, options->count, sizeof *items);
  if (items != NULL) options->items = items;
  char *copy = items != NULL ? malloc(key_length + value_length + 2) : NULL;
  if (copy == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no memory for an option", where);
  memcpy(copy, key, key_length);
  copy[key_length] = '\0';
  memcpy(copy + key_length + 1, value, value_length);
  copy[key_length + 1 + value_length] = '\0';
  const char *fault = find(options, copy) != NULL                ? "is given twice: once is enough"
                      : !kw_utf8_is_valid(copy + key_length + 1) ? "has a value that is no UTF-8"
                      : strspn(copy, "abcdefghijklmnopqrstuvwxyz0123456789_.") != key_length
                          ? "cannot be an option: keys are words of a-z 0-9 _ with dots between them"
                          : NULL;
  if (fault != NULL) {
    kw_status status = kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: '%s' %s", where, copy, fault);
    free(copy);
    return status;
  }
  options->items[options->count++] = (kw_option){copy, copy + key_length + 1};
  return KW_OK;
}

kw_status kw_options_add(kw_options *options, const char *where, const kw_option *given, uint32_t count) {
  if (given == NULL && count > 0) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: options is NULL", where);
  for (uint32_t i = 0; i < count; i++) {
    const kw_option *o = &given[i];
    if (o->key == NULL || o->value == NULL) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: option %u has no %s", where, i, o->key == NULL ? "key" : "value");
    }
    kw_status status = add(options, where, o->key, strlen(o->key), o->value, strlen(o->value));
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

kw_status kw_options_parse(kw_options *options, const char *where, const char *text) {
  for (;;) {
    const size_t length = strcspn(text, ";"), key_length = strcspn(text, "=;");
    if (text[key_length] != '=') {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: '%.*s' cannot be an option: KEY=VALUE[;KEY=VALUE] is expected",
                     where, (int)kw_utf8_fit(text, length), text);
    }
    kw_status status = add(options, where, text, key_length, text + key_length + 1, length - key_length - 1);
    if (status != KW_OK || text[length] == '\0') return status;
    text += length + 1;
  }
}

kw_status kw_options_start(const kw_option *given, uint32_t count) {
  kw_options_free(&given_at_start); /* of a start that failed */
  kw_options_free(&from_environment);
  kw_status status = kw_options_add(&given_at_start, "kw_init", given, count);
  const char *text = secure_getenv("KEYWAY_OPTIONS");
  if (status != KW_OK || text == NULL || text[0] == '\0') return status;
  status = kw_options_parse(&from_environment, "KEYWAY_OPTIONS", text);
  if (status != KW_ERR_INVALID_ARGUMENT) return status;
  kw_log(KW_LOG_WARN, "%s; it is ignored from there on", kw_error_message());
  kw_error_clear();
  return KW_OK;
}

const kw_options *kw_options_given_at_start(void) {
  return &given_at_start;
}

const kw_options *kw_options_from_environment(void) {
  return &from_environment;
}

/* ---- A plugin's -------------------------------------------------------------------------------------------------- */

/* Not an option for a place of a later version's. */
static bool is_known(const kw_option_desc *option) {
  return option->place <= KW_OPTION_OPEN;
}

static const kw_option_desc *find_desc(const kw_plugin_desc *desc, const char *name) {
  for (uint32_t i = 0; i < desc->option_count; i++)
    if (strcmp(desc->options[i]->key, name) == 0) return is_known(desc->options[i]) ? desc->options[i] : NULL;
  return NULL;
}

const char *kw_option_name_in(const kw_plugin_desc *desc, const char *key) {
  const size_t vendor = strlen(desc->vendor), word = strlen(desc->key);
  if (strncmp(key, desc->vendor, vendor) != 0 || key[vendor] != '.') return NULL;
  key += vendor + 1;
  return strncmp(key, desc->key, word) == 0 && key[word] == '.' ? key + word + 1 : NULL;
}

/* The same where the name may stand alone. */
static const char *short_name_in(const kw_plugin_desc *desc, const char *key) {
  return strchr(key, '.') == NULL ? key : kw_option_name_in(desc, key);
}

/* What the list says of an option, or NULL. */
static const char *value_in(const kw_plugin_desc *desc, const kw_options *options, const char *name, bool alone) {
  for (uint32_t i = 0; i < options->count; i++) {
    const char *key = options->items[i].key, *found = alone ? short_name_in(desc, key) : kw_option_name_in(desc, key);
    if (found != NULL && strcmp(found, name) == 0) return options->items[i].value;
  }
  return NULL;
}

static kw_status fail_unknown(const kw_plugin_desc *desc, const char *where, const char *key) {
  char known[1024] = "";
  for (uint32_t i = 0; i < desc->option_count; i++) {
    const size_t length = strlen(known);
    if (!is_known(desc->options[i])) continue;
    snprintf(known + length, sizeof known - length, "%s%s", length > 0 ? ", " : "", desc->options[i]->key);
  }
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: '%s' is no option of %s.%s, which has %s", where, key, desc->vendor,
                 desc->key, known[0] != '\0' ? known : "none");
}

/* What the library itself is told about any plugin. */
static kw_status check_host(const char *where, const kw_option *option, const char *name, bool *out_known) {
  *out_known = strcmp(name, KW_OPTION_ISOLATE) == 0;
  if (!*out_known || strcmp(option->value, "0") == 0 || strcmp(option->value, "1") == 0) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: '%s' is 0 or 1 (a process of the plugin's own), not '%s'", where,
                 option->key, option->value);
}

static kw_status check_all(const kw_plugin_desc *desc, const char *where, const kw_options *options) {
  for (uint32_t i = 0; i < options->count; i++) {
    const char *key = options->items[i].key, *name = kw_option_name_in(desc, key);
    if (name != NULL && find_desc(desc, name) == NULL) {
      bool known;
      const kw_status status = check_host(where, &options->items[i], name, &known);
      if (status != KW_OK) return status;
      if (!known) return fail_unknown(desc, where, key);
    }
    if (name == NULL) kw_log(KW_LOG_DEBUG, "%s.%s: %s: '%s' is another's option", desc->vendor, desc->key, where, key);
  }
  return KW_OK;
}

kw_status kw_options_check_all(const kw_plugin_desc *desc) {
  kw_status status = check_all(desc, "kw_init", &given_at_start);
  return status == KW_OK ? check_all(desc, "KEYWAY_OPTIONS", &from_environment) : status;
}

const char *kw_options_of_host(const kw_plugin_desc *desc, const char *name) {
  if (find_desc(desc, name) != NULL) return NULL;
  const char *value = value_in(desc, &given_at_start, name, false);
  return value != NULL ? value : value_in(desc, &from_environment, name, false);
}

kw_status kw_options_check_device(const kw_plugin_desc *desc, const kw_options *given, const char *device) {
  for (uint32_t i = 0; i < given->count; i++) {
    const char *key = given->items[i].key, *name = short_name_in(desc, key);
    if (name == NULL) {
      kw_log(KW_LOG_WARN, "%s: the option '%s' is ignored: it is none of %s.%s's", device, key, desc->vendor,
             desc->key);
      continue;
    }
    const kw_option_desc *option = find_desc(desc, name);
    if (option == NULL) return fail_unknown(desc, device, key);
    if (value_in(desc, given, name, true) != given->items[i].value) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the option '%s' is given twice: once is enough", device, name);
    }
    if (option->place != KW_OPTION_OPEN) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT,
                     "%s: the option '%s' is for all devices of %s.%s: give it to kw_init or in KEYWAY_OPTIONS, by its "
                     "whole key %s.%s.%s",
                     device, key, desc->vendor, desc->key, desc->vendor, desc->key, name);
    }
  }
  return KW_OK;
}

void kw_options_choose(const kw_plugin_desc *desc, kw_option_place place, const kw_options *given,
                       kw_chosen_options *out_chosen) {
  out_chosen->count = 0;
  for (uint32_t i = 0; i < desc->option_count; i++) {
    if (desc->options[i]->place != place) continue;
    const char *name = desc->options[i]->key;
    const char *value = given != NULL ? value_in(desc, given, name, true) : NULL;
    if (value == NULL) value = value_in(desc, &given_at_start, name, false);
    if (value == NULL) value = value_in(desc, &from_environment, name, false);
    if (value != NULL) out_chosen->items[out_chosen->count++] = (kw_option){name, value};
  }
}

const kw_option_desc *kw_options_differ(const kw_plugin_desc *desc, const kw_options *in_use, const kw_options *given) {
  for (uint32_t i = 0; i < desc->option_count; i++) {
    const kw_option_desc *option = desc->options[i];
    const char *wanted = value_in(desc, given, option->key, true);
    if (wanted == NULL) continue;
    if (strcmp(kw_option_value(in_use->items, in_use->count, option), wanted) != 0) return option;
  }
  return NULL;
}

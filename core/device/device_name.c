/* SPDX-License-Identifier: Apache-2.0
 *
 * From a name to a plugin's device and back: parsing, policies, KEYWAY_VISIBLE_DEVICES, renaming.
 */
#include "device/device_name.h"

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "device/device.h"
#include "plugin/start.h"
#include "plugin/unmet.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* kw_device_rename: `to` stands for vendor.key. Later ones are shown. Guarded by rename_lock. */
typedef struct renaming {
  struct renaming *next;
  char to[KW_KEY_SIZE];
  const kw_plugin *plugin;
} renaming;

static pthread_mutex_t rename_lock = PTHREAD_MUTEX_INITIALIZER;
static renaming *renamings; /* latest first */

/* A device that exists, open or not. */
typedef struct listed_device {
  kw_plugin *plugin;
  uint32_t index; /* the plugin's numbering */
} listed_device;

/* In the order of kw_device_get_entry. */
typedef struct device_list {
  listed_device *items;
  uint32_t count;
} device_list;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool take_word(const char **text, char word[KW_KEY_SIZE]) {
  size_t length = strspn(*text, "abcdefghijklmnopqrstuvwxyz0123456789_");
  if (length >= KW_KEY_SIZE) return false;
  memcpy(word, *text, length);
  word[length] = '\0';
  *text += length;
  return kw_word_is_valid(word);
}

static bool parse(const char *text, kw_device_name_parts *name) {
  if (!take_word(&text, name->key)) return false;
  if (*text == '.') {
    memcpy(name->vendor, name->key, sizeof name->vendor);
    text++;
    if (!take_word(&text, name->key)) return false;
  }
  if (*text == '@') {
    size_t length = strlen(++text);
    if (length >= sizeof name->stable_id || !kw_ascii_identifies(text, KW_NOT_IN_STABLE_ID)) return false;
    memcpy(name->stable_id, text, length + 1);
    return true;
  }
  if (*text == ':') {
    text++;
    size_t length = strspn(text, "0123456789");
    if (length == 0 || length > 9) return false;
    name->index = (uint32_t)strtoul(text, NULL, 10);
    name->has_index = true;
    text += length;
  }
  return *text == '\0';
}

kw_status kw_device_name_parse(const char *text, kw_device_name_parts *out_name) {
  *out_name = (kw_device_name_parts){0};
  if (text != NULL && parse(text, out_name)) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT,
                 "'%s' cannot be a device name: write KEY, KEY:NUMBER, VENDOR.KEY:NUMBER or KEY@STABLE_ID, keys and "
                 "vendors in a-z 0-9 _; options follow as /KEY=VALUE;KEY=VALUE where it is opened",
                 text != NULL ? text : "(null)");
}

/* ---- What exists ------------------------------------------------------------------------------------------------- */

static kw_status list_all(device_list *list) {
  const uint32_t plugins = kw_plugin_entry_count();
  *list = (device_list){0};
  for (uint32_t i = 0; i < plugins; i++) {
    kw_plugin *plugin = kw_plugin_at(i);
    if (plugin == NULL) continue;
    kw_plugin_look_again(plugin);
    const uint32_t count = atomic_load(&plugin->device_count);
    for (uint32_t d = 0; d < count; d++) {
      listed_device *items = kw_array_grow(list->items, list->count, sizeof *items);
      if (items == NULL) {
        free(list->items);
        return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the list of devices");
      }
      list->items = items;
      list->items[list->count++] = (listed_device){plugin, d};
    }
  }
  return KW_OK;
}

/* The plugin that a renamed name stands for. */
static const kw_plugin *find_renamed(const char *word) {
  pthread_mutex_lock(&rename_lock);
  const renaming *r = renamings;
  while (r != NULL && strcmp(r->to, word) != 0) r = r->next;
  const kw_plugin *plugin = r != NULL ? r->plugin : NULL;
  pthread_mutex_unlock(&rename_lock);
  return plugin;
}

/* Whether a plugin answers to vendor (if given) and key or renamed name. */
static bool answers_to(const kw_plugin *plugin, const kw_device_name_parts *name, const kw_plugin *renamed) {
  if (name->vendor[0] == '\0' && renamed != NULL) return plugin == renamed;
  return strcmp(plugin->key, name->key) == 0 && (name->vendor[0] == '\0' || strcmp(plugin->vendor, name->vendor) == 0);
}

typedef enum match { MATCH_ONE, MATCH_NONE, MATCH_AMBIGUOUS } match;

/* Looks a name that is no policy up in a list. On MATCH_AMBIGUOUS the two devices show which plugins share the key. */
static match find(const device_list *list, const kw_device_name_parts *name, listed_device *out_device,
                  listed_device *out_other) {
  const kw_plugin *renamed = name->vendor[0] == '\0' ? find_renamed(name->key) : NULL;
  const kw_plugin *owner = NULL;
  match result = MATCH_NONE;
  for (uint32_t i = 0; i < list->count; i++) {
    const listed_device *p = &list->items[i];
    if (!answers_to(p->plugin, name, renamed)) continue;
    if (owner != NULL && owner != p->plugin) {
      *out_other = *p;
      for (i = 0; list->items[i].plugin != owner;) i++;
      *out_device = list->items[i];
      return MATCH_AMBIGUOUS;
    }
    owner = p->plugin;
    bool hit = p->index == name->index;
    if (name->stable_id[0] != '\0') {
      kw_device_info info;
      hit = kw_device_read_info(p->plugin, p->index, &info) == KW_OK && strcmp(info.stable_id, name->stable_id) == 0;
    }
    if (hit && result == MATCH_NONE) {
      result = MATCH_ONE;
      *out_device = *p;
    }
  }
  return result;
}

/* KEYWAY_VISIBLE_DEVICES: replaces the list by the named devices, in that order. Empty counts as unset. */
static kw_status filter_visible(device_list *list) {
  static atomic_bool warned; /* one listing's worth of warnings is enough */
  const char *visible = secure_getenv("KEYWAY_VISIBLE_DEVICES");
  if (visible == NULL || visible[0] == '\0') return KW_OK;
  device_list kept = {calloc(list->count + 1, sizeof *kept.items), 0};
  if (kept.items == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the list of devices");
  bool unknown = false;
  for (const char *element = visible; *element != '\0';) {
    size_t length = strcspn(element, ",");
    char text[KW_DEVICE_NAME_SIZE];
    kw_device_name_parts name;
    listed_device p, other;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), element);
    if (kw_device_name_parse(text, &name) == KW_OK && find(list, &name, &p, &other) == MATCH_ONE) {
      uint32_t i = 0;
      while (i < kept.count && (kept.items[i].plugin != p.plugin || kept.items[i].index != p.index)) i++;
      if (i == kept.count) kept.items[kept.count++] = p;
    } else if (!atomic_load(&warned)) {
      unknown = true;
      kw_log(KW_LOG_WARN, "KEYWAY_VISIBLE_DEVICES: '%s' is ignored: no such device, or two vendors have it", text);
    }
    element += length + (element[length] == ',');
  }
  if (unknown) atomic_store(&warned, true);
  free(list->items);
  *list = kept;
  return KW_OK;
}

static kw_status list_visible(device_list *list) {
  kw_names_judge();
  kw_status status = list_all(list);
  if (status != KW_OK) return status;
  status = filter_visible(list);
  if (status != KW_OK) free(list->items);
  return status;
}

/* ---- Names to show ----------------------------------------------------------------------------------------------- */

static void qualified_name(const listed_device *p, char *text, size_t size) {
  snprintf(text, size, "%s.%s:%u", p->plugin->vendor, p->plugin->key, p->index);
}

/* Renamed, else plain, else qualified: whichever kw_device_open takes. */
static void shown_name(const device_list *list, const listed_device *p, char text[80]) {
  pthread_mutex_lock(&rename_lock);
  const renaming *r = renamings;
  while (r != NULL && r->plugin != p->plugin) r = r->next;
  if (r != NULL) snprintf(text, 80, "%s:%u", r->to, p->index);
  pthread_mutex_unlock(&rename_lock);
  if (r != NULL) return;
  const kw_plugin *renamed = find_renamed(p->plugin->key);
  bool taken = renamed != NULL && renamed != p->plugin;
  for (uint32_t i = 0; i < list->count && !taken; i++) {
    taken = list->items[i].plugin != p->plugin && strcmp(list->items[i].plugin->key, p->plugin->key) == 0;
  }
  if (taken) {
    qualified_name(p, text, 80);
  } else {
    snprintf(text, 80, "%s:%u", p->plugin->key, p->index);
  }
}

/* ---- Resolving --------------------------------------------------------------------------------------------------- */

/* The first device in the policy's order; emulated ones never. */
static match find_by_policy(const device_list *list, const char *policy, listed_device *out_device) {
  static const unsigned rank[] = {
      [KW_DEVICE_GPU] = 0, [KW_DEVICE_NPU] = 1, [KW_DEVICE_FPGA] = 2, [KW_DEVICE_OTHER] = 2, [KW_DEVICE_CPU] = 3};
  unsigned limit = strcmp(policy, "gpu") == 0 ? 1 : 4; /* ranks below this will do */
  match result = MATCH_NONE;
  for (uint32_t i = 0; i < list->count; i++) {
    kw_device_info info;
    if (kw_device_read_info(list->items[i].plugin, list->items[i].index, &info) != KW_OK) continue;
    if ((info.flags & KW_DEVICE_EMULATED) != 0) continue;
    unsigned device_rank = rank[info.type < sizeof rank / sizeof rank[0] ? info.type : KW_DEVICE_OTHER];
    if (device_rank >= limit) continue;
    limit = device_rank;
    *out_device = list->items[i];
    result = MATCH_ONE;
  }
  return result;
}

/* "a, b": appends one more to a text of `size` bytes; what does not fit is left out. */
static void append(char *text, size_t size, const char *separator, const char *item) {
  size_t length = strlen(text);
  snprintf(text + length, size - length, "%s%s", length != 0 ? separator : "", item);
}

/* " (npu, emulated)", which a policy goes by. */
static void append_kind(char *text, size_t size, const listed_device *p) {
  static const char *const types[] = {[KW_DEVICE_OTHER] = "other",
                                      [KW_DEVICE_CPU] = "cpu",
                                      [KW_DEVICE_GPU] = "gpu",
                                      [KW_DEVICE_NPU] = "npu",
                                      [KW_DEVICE_FPGA] = "fpga"};
  kw_device_info info;
  if (kw_device_read_info(p->plugin, p->index, &info) != KW_OK) return;
  const size_t length = strlen(text);
  snprintf(text + length, size - length, " (%s%s)", types[info.type < sizeof types / sizeof types[0] ? info.type : 0],
           (info.flags & KW_DEVICE_EMULATED) != 0 ? ", emulated" : "");
}

/* Whether a key has more in front of this end. */
static bool ends_in(const char *key, const char *end) {
  const size_t length = strlen(key), size = strlen(end);
  return size >= 2 && size < length && strcasecmp(key + length - size, end) == 0;
}

/* The name of a device whose key ends in that of this name or comes near it, or a policy that some device is there for,
 * into `text`; "" when there is none. */
static void find_near(const device_list *list, const char *name, char text[80]) {
  static const char *const policies[] = {"gpu", "auto"};
  char key[KW_DEVICE_NAME_SIZE];
  const listed_device *ending = NULL, *near = NULL;
  listed_device first;
  kw_nearest nearest;
  snprintf(key, sizeof key, "%.*s", (int)strcspn(name, ":@"), name);
  kw_nearest_begin(&nearest, key);
  for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
    if (find_by_policy(list, policies[i], &first) == MATCH_ONE) kw_nearest_try(&nearest, policies[i]);
  }
  for (uint32_t i = 0; i < list->count; i++) {
    const char *best = nearest.best, *candidate = list->items[i].plugin->key;
    kw_nearest_try(&nearest, candidate);
    if (nearest.best != best) near = &list->items[i];
    if (ending == NULL && ends_in(candidate, key)) ending = &list->items[i];
  }
  const bool other_case = nearest.best != NULL && nearest.limit == 0;
  snprintf(text, 80, "%s", nearest.best != NULL ? nearest.best : "");
  if (ending != NULL && !other_case) near = ending;
  if (near != NULL) shown_name(list, near, text);
}

static kw_status fail_not_found(const device_list *list, const char *name) {
  char devices[1024] = "", failures[2048] = "", near[80] = "", why[160] = "";
  const bool policy = kw_word_is_policy(name);
  for (uint32_t i = 0; i < list->count; i++) {
    char shown[80];
    shown_name(list, &list->items[i], shown);
    append(devices, sizeof devices, ", ", shown);
    if (policy) append_kind(devices, sizeof devices, &list->items[i]);
  }
  if (policy) {
    snprintf(why, sizeof why, ": the first %sthat is not emulated is meant, and none is there",
             strcmp(name, "gpu") == 0 ? "of type gpu " : "");
  } else {
    find_near(list, name, near);
    if (near[0] != '\0') snprintf(why, sizeof why, "; did you mean '%s'?", near);
  }
  kw_plugin_report report;
  for (uint32_t i = 0; kw_plugin_report_at(i, &report); i++) {
    char line[1200];
    if (report.reached != KW_STAGE_INIT) {
      snprintf(line, sizeof line, "  not loaded: %s (reached %s): %s", report.path, kw_stage_name(report.reached),
               report.reason);
    } else if (report.device_count == 0 && report.reason[0] != '\0') {
      snprintf(line, sizeof line, "  without a device: %s: %s", report.path, report.reason);
    } else {
      continue;
    }
    append(failures, sizeof failures, "\n", line);
  }
  const char *visible = secure_getenv("KEYWAY_VISIBLE_DEVICES");
  bool hidden = visible != NULL && visible[0] != '\0';
  return kw_fail(
      KW_ERR_NOT_FOUND,
      "there is no device '%s'%s\n  devices: %s%s%s\n%s%s  next: use one of the devices, install a plugin, or see "
      "'keyway doctor'",
      name, why, devices[0] != '\0' ? devices : "none", hidden ? "; KEYWAY_VISIBLE_DEVICES hides all but " : "",
      hidden ? visible : "", failures, failures[0] != '\0' ? "\n" : "");
}

static kw_status fail_ambiguous(const char *name, const listed_device *a, const listed_device *b) {
  char first[144], second[144];
  qualified_name(a, first, sizeof first);
  qualified_name(b, second, sizeof second);
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "the device name '%s' is ambiguous: two plugins share it; write %s or %s",
                 name, first, second);
}

/* Of a name that cannot be one, such as CPU:0: with the device whose name comes near. */
static kw_status wrap_near(const device_list *list, const char *name, kw_status status) {
  char near[80] = "";
  if (name != NULL) find_near(list, name, near);
  return near[0] != '\0' ? kw_wrap(status, "there is no device '%s'; did you mean '%s'?", name, near) : status;
}

/* A name in a list; every failure with its message. */
static kw_status resolve(const device_list *list, const char *text, listed_device *out_device) {
  kw_device_name_parts name;
  kw_status status = kw_device_name_parse(text, &name);
  if (status != KW_OK) return wrap_near(list, text, status);
  listed_device other;
  match result =
      kw_word_is_policy(text) ? find_by_policy(list, text, out_device) : find(list, &name, out_device, &other);
  if (result == MATCH_AMBIGUOUS) return fail_ambiguous(text, out_device, &other);
  return result == MATCH_NONE ? fail_not_found(list, text) : KW_OK;
}

const char *kw_device_name_options(const char *name) {
  const char *slash = name != NULL ? strchr(name, '/') : NULL;
  return slash != NULL ? slash + 1 : NULL;
}

kw_status kw_device_name_resolve(const char *name, kw_plugin **out_plugin, uint32_t *out_index, char out_name[80]) {
  char bare[KW_DEVICE_NAME_SIZE];
  const char *options = kw_device_name_options(name);
  if (options != NULL && (size_t)(options - name) <= sizeof bare) {
    snprintf(bare, sizeof bare, "%.*s", (int)(options - name - 1), name);
    name = bare;
  }
  device_list list;
  kw_status status = list_visible(&list);
  if (status != KW_OK) return status;
  listed_device p;
  status = resolve(&list, name, &p);
  if (status == KW_OK) {
    *out_plugin = p.plugin;
    *out_index = p.index;
    shown_name(&list, &p, out_name);
  }
  free(list.items);
  return status;
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

kw_status kw_device_list_count(uint32_t *out_count) {
  device_list list;
  kw_status status = list_visible(&list);
  if (status != KW_OK) return status;
  *out_count = list.count;
  free(list.items);
  return KW_OK;
}

static kw_status fail_no_entry(const device_list *list, uint32_t index) {
  return kw_fail(KW_ERR_NOT_FOUND, "there is no device number %u in the list: it has %u", index, list->count);
}

kw_status kw_device_list_at(uint32_t index, kw_plugin **out_plugin, uint32_t *out_index) {
  device_list list;
  kw_status status = list_visible(&list);
  if (status != KW_OK) return status;
  if (index < list.count) {
    *out_plugin = list.items[index].plugin;
    *out_index = list.items[index].index;
  } else {
    status = fail_no_entry(&list, index);
  }
  free(list.items);
  return status;
}

kw_status kw_device_list_entry(uint32_t index, kw_device_entry *out_entry) {
  device_list list;
  kw_status status = list_visible(&list);
  if (status != KW_OK) return status;
  if (index < list.count) {
    const listed_device *p = &list.items[index];
    *out_entry = (kw_device_entry){.struct_size = sizeof *out_entry, .plugin = p->plugin->index};
    shown_name(&list, p, out_entry->name);
    qualified_name(p, out_entry->qualified_name, sizeof out_entry->qualified_name);
    status = kw_device_keep_info(p->plugin, p->index, &out_entry->info);
  } else {
    status = fail_no_entry(&list, index);
  }
  free(list.items);
  return status;
}

/* ---- Renaming ---------------------------------------------------------------------------------------------------- */

static kw_status check_new_name(const device_list *list, const char *to, const kw_plugin *plugin) {
  if (to == NULL || !kw_word_is_valid(to) || kw_word_is_policy(to)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "'%s' cannot be a device key: [a-z][a-z0-9_]*, at most %d characters, not auto or gpu",
                   to != NULL ? to : "(null)", KW_KEY_SIZE - 1);
  }
  const kw_plugin *renamed = find_renamed(to);
  bool taken = renamed != NULL && renamed != plugin;
  for (uint32_t i = 0; i < list->count && !taken; i++) taken = strcmp(list->items[i].plugin->key, to) == 0;
  if (taken) return kw_fail(KW_ERR_INVALID_ARGUMENT, "the device key '%s' is taken: choose another", to);
  return KW_OK;
}

static kw_status add_renaming(const kw_plugin *plugin, const char *to) {
  renaming *r = calloc(1, sizeof *r);
  if (r == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for a device name");
  snprintf(r->to, sizeof r->to, "%s", to);
  r->plugin = plugin;
  pthread_mutex_lock(&rename_lock);
  r->next = renamings;
  renamings = r;
  pthread_mutex_unlock(&rename_lock);
  return KW_OK;
}

kw_status kw_device_name_change(const char *from, const char *to) {
  device_list list;
  kw_status status = list_all(&list);
  if (status != KW_OK) return status;
  kw_device_name_parts name;
  status = kw_device_name_parse(from, &name);
  if (status == KW_OK && (name.has_index || name.stable_id[0] != '\0' || kw_word_is_policy(from))) {
    status = kw_fail(KW_ERR_INVALID_ARGUMENT, "'%s' is not a device key: keys are renamed, not single devices", from);
  }
  listed_device p = {0};
  if (status == KW_OK) status = resolve(&list, from, &p);
  if (status == KW_OK) status = check_new_name(&list, to, p.plugin);
  if (status == KW_OK) status = add_renaming(p.plugin, to);
  free(list.items);
  return status != KW_OK ? kw_wrap(status, "renaming '%s' failed", from != NULL ? from : "(null)") : KW_OK;
}

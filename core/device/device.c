/* SPDX-License-Identifier: Apache-2.0
 *
 * An open device while it is in use: references, whether it is lost, facts. What opens and closes it is open.c.
 */
#include "device/device.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/struct.h"
#include "base/utf8.h"
#include "plugin/facts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

static bool is_power_of_two(uint32_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

/* A text of a struct as a plugin filled it: ended, and UTF-8. */
static void mend_text(char text[64]) {
  char mended[64] = ""; /* to its end: facts are compared as bytes */
  if (memchr(text, '\0', 64) == NULL) text[kw_utf8_fit(text, 63)] = '\0';
  kw_utf8_mend(mended, sizeof mended, text);
  memcpy(text, mended, sizeof mended);
}

static bool can_be_id(const char *id) {
  return *id == '\0' || kw_ascii_identifies(id, KW_NOT_IN_STABLE_ID);
}

/* What has no meaning here is zero, or reads so. */
static kw_status check_unused(const kw_plugin *plugin, kw_device_info *info) {
  const uint32_t version = plugin->desc.abi_version;
  kw_status status = kw_reserved_check("its kw_device_info", version, info->reserved);
  info->reserved = 0;
  return status == KW_OK ? kw_dtype_mask_check("its flush_subnormal", version, &info->flush_subnormal) : status;
}

/* As the plugin gives it; of one that is not open, as its helper process saw it. */
static kw_status ask_info(kw_plugin *plugin, uint32_t index, kw_device_info *info) {
  if (kw_plugin_is_open(plugin) || plugin->facts == NULL) {
    kw_status status = KW_ASK(plugin, device.info, plugin->state, index, info);
    if (status == KW_OK) return KW_OK;
    return kw_from_plugin(status, "%s.%s: device.info(%u)", plugin->vendor, plugin->key, index);
  }
  if (index >= plugin->facts->device_count) {
    return kw_fail(KW_ERR_NOT_FOUND, "%s.%s has no device %u", plugin->vendor, plugin->key, index);
  }
  const kw_device_facts *facts = &plugin->facts->devices[index];
  *info = facts->info;
  return facts->status == KW_OK ? KW_OK : kw_fail(facts->status, "%s", facts->reason);
}

kw_status kw_device_read_info(kw_plugin *plugin, uint32_t index, kw_device_info *out_info) {
  kw_device_info info = {.struct_size = sizeof info};
  kw_status status = ask_info(plugin, index, &info);
  if (status != KW_OK) return status;
  status = check_unused(plugin, &info);
  if (status != KW_OK) return kw_wrap(KW_ERR_INTERNAL, "%s.%s: device.info(%u)", plugin->vendor, plugin->key, index);
  info.struct_size = sizeof info;
  mend_text(info.name);
  mend_text(info.vendor);
  mend_text(info.driver_version);
  info.stable_id[sizeof info.stable_id - 1] = '\0';
  info.parent_id[sizeof info.parent_id - 1] = '\0';
  if (info.mem_alignment == 0) info.mem_alignment = 1;
  if (info.offset_alignment == 0) info.offset_alignment = 1;
  if (!is_power_of_two(info.mem_alignment) || !is_power_of_two(info.offset_alignment)) {
    return kw_fail(KW_ERR_INTERNAL, "%s.%s: device.info(%u) gives alignments %u and %u: they must be powers of two",
                   plugin->vendor, plugin->key, index, info.mem_alignment, info.offset_alignment);
  }
  if (!can_be_id(info.stable_id) || !can_be_id(info.parent_id)) {
    char mended[sizeof info.stable_id];
    kw_utf8_mend(mended, sizeof mended, can_be_id(info.stable_id) ? info.parent_id : info.stable_id);
    return kw_fail(KW_ERR_INTERNAL,
                   "%s.%s: device.info(%u) gives '%s' for an id: printable ASCII without blanks, '/', ',' and ';'",
                   plugin->vendor, plugin->key, index, mended);
  }
  if (info.max_alloc == 0) info.max_alloc = info.total_memory != 0 ? info.total_memory : UINT64_MAX;
  *out_info = info;
  return KW_OK;
}

/* Facts that applications have a pointer to. */
struct kw_kept_info {
  uint32_t index;
  kw_device_info info;
  struct kw_kept_info *next;
};

kw_status kw_device_keep_info(kw_plugin *plugin, uint32_t index, const kw_device_info **out_info) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  kw_device_info info;
  kw_status status = kw_device_read_info(plugin, index, &info);
  if (status != KW_OK) return status;
  pthread_mutex_lock(&lock);
  struct kw_kept_info *kept = plugin->infos;
  while (kept && (kept->index != index || memcmp(&kept->info, &info, sizeof info) != 0)) kept = kept->next;
  if (!kept && (kept = malloc(sizeof *kept)) != NULL) {
    *kept = (struct kw_kept_info){index, info, plugin->infos};
    plugin->infos = kept;
  }
  pthread_mutex_unlock(&lock);
  if (!kept) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for what is known of a device");
  *out_info = &kept->info;
  return KW_OK;
}

/* ---- Use --------------------------------------------------------------------------------------------------------- */

kw_status kw_device_check(const kw_device *device) {
  if (!atomic_load_explicit(&device->lost, memory_order_acquire)) return KW_OK;
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  if (kw_device_is_abandoned(device)) {
    return kw_fail(KW_ERR_DEVICE_LOST, "%s was abandoned, and stays so until the process ends: use another device",
                   device->name);
  }
  return kw_fail(KW_ERR_DEVICE_LOST,
                 "%s was lost: release what lives on it, close it as often as it was opened, and open it again",
                 device->name);
}

kw_status kw_device_mark_if_lost(kw_device *device, kw_status status) {
  if (status == KW_ERR_DEVICE_LOST && !atomic_exchange(&device->lost, true)) kw_device_bar(device);
  return status;
}

const char *kw_device_name(const kw_device *device) {
  return device ? device->name : NULL;
}

kw_status kw_device_get_info(const kw_device *device, kw_device_info *out_info) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_get_info: argument device is NULL");
  kw_status status = kw_struct_check_given("kw_device_get_info", out_info);
  if (status == KW_OK) kw_struct_write(out_info, &device->info, sizeof device->info);
  return status;
}

/* What is wrong with a value that a plugin gave, or NULL. */
static const char *fault_of_attribute(const char *key, const kw_attribute *value) {
  static const struct {
    const char *key;
    kw_attribute_type type;
  } common[] = {
#define KW_ROW(name, of_type) {name, KW_ATTRIBUTE_##of_type},
      KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
  };
  if (value->type < KW_ATTRIBUTE_INT || value->type > KW_ATTRIBUTE_STRING) return "a value of no type";
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
    if (strcmp(common[i].key, key) == 0 && common[i].type != value->type) return "a value of another type";
  if (value->type != KW_ATTRIBUTE_STRING) return NULL;
  if (value->u.s == NULL) return "no text";
  return strnlen(value->u.s, KW_ATTRIBUTE_TEXT_LIMIT + 1) > KW_ATTRIBUTE_TEXT_LIMIT ? "a text that is too long" : NULL;
}

/* The text of an attribute as UTF-8: the plugin's own, or one that lives as long as the process, the same for all equal
 * ones. NULL without memory. */
static const char *mended_text(const char *text) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct kept_text {
    struct kept_text *next;
    char text[3 * KW_ATTRIBUTE_TEXT_LIMIT + 1]; /* each byte replaced, at worst */
  } * texts;
  if (kw_utf8_is_valid(text)) return text;
  struct kept_text *made = malloc(sizeof *made), *kept = NULL;
  if (made == NULL) return NULL;
  kw_utf8_mend(made->text, sizeof made->text, text);
  pthread_mutex_lock(&lock);
  for (kept = texts; kept != NULL && strcmp(kept->text, made->text) != 0;) kept = kept->next;
  if (kept == NULL) {
    made->next = texts;
    texts = kept = made;
  }
  pthread_mutex_unlock(&lock);
  if (kept != made) free(made);
  return kept->text;
}

bool kw_device_listed_attribute(const kw_plugin *plugin, uint32_t index, const char *key, kw_attribute *out_value,
                                kw_status *out_status) {
  static const char *const common[] = {
#define KW_ROW(name, of_type) name,
      KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
  };
  size_t i = 0;
  while (i < sizeof common / sizeof common[0] && strcmp(common[i], key) != 0) i++;
  if (kw_plugin_is_open(plugin) || i == sizeof common / sizeof common[0]) return false;
  const kw_attribute *value = kw_facts_attribute(plugin->facts, index, key);
  if (value != NULL) kw_struct_write(out_value, value, sizeof *value);
  *out_status = value != NULL ? KW_OK
                              : kw_fail(KW_ERR_NOT_FOUND, "%s.%s:%u does not tell its attribute '%s'", plugin->vendor,
                                        plugin->key, index, key);
  return true;
}

kw_status kw_device_read_attribute(kw_plugin *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  kw_attribute value = {.struct_size = sizeof value};
  kw_status status = KW_ASK(plugin, device.attribute, plugin->state, index, key, &value);
  if (status != KW_OK) {
    return kw_from_plugin(status, "asking %s.%s:%u for its attribute '%s'", plugin->vendor, plugin->key, index, key);
  }
  const char *fault = fault_of_attribute(key, &value);
  if (fault) {
    return kw_fail(KW_ERR_INTERNAL, "%s.%s:%u gives %s for its attribute '%s'", plugin->vendor, plugin->key, index,
                   fault, key);
  }
  if (value.type == KW_ATTRIBUTE_STRING && (value.u.s = mended_text(value.u.s)) == NULL)
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for the attribute '%s'", key);
  kw_struct_write(out_value, &value, sizeof value);
  return KW_OK;
}

kw_status kw_device_attribute(const kw_device *device, const char *key, kw_attribute *out_value) {
  if (!device || !key) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_attribute: argument %s is NULL", device ? "key" : "device");
  }
  kw_status status = kw_struct_check_given("kw_device_attribute", out_value);
  if (status == KW_OK) status = kw_fork_check();
  if (status == KW_OK && kw_device_is_abandoned(device)) status = kw_device_check(device);
  return status == KW_OK ? kw_device_read_attribute(device->plugin, device->index, key, out_value) : status;
}

uint64_t kw_device_native(const kw_device *device) {
  return device ? device->plugin->native : 0;
}

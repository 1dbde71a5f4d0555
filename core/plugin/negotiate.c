/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin's answer, held against the header that this host was built with: versions, sizes, words, groups, slots.
 */
#include "plugin/negotiate.h"

#include "base/error.h"
#include "base/struct.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Larger counts than any plugin will reach: memory that is not what it claims to be. */
#define KW_GROUP_LIMIT 256u
#define KW_TEXT_LIMIT 1024u

/* ---- The layout, from slots.def ---------------------------------------------------------------------------------- */

typedef void (*any_fn)(void);

typedef enum group_id {
#define KW_SLOT_GROUP(group, NAME, required, native, text) GROUP_##group,
#include "slots.def"
  GROUP_COUNT
} group_id;

/* plugin.h and slots.def say the same: every slot at its place and of its type, none missing. For each group a struct
 * layout_GROUP as slots.def has it; each row ends the struct of the group before it. */
struct layout_before_all {
  char nothing;
#define KW_SLOT_GROUP(group, NAME, required, native, text) \
  }                                                        \
  ;                                                        \
  struct layout_##group {                                  \
    uint32_t struct_size, reserved;
#define KW_SLOT(group, name, since, required, parameters, arguments) any_fn name;
#include "slots.def"
};
#define KW_SLOT_GROUP(group, NAME, required, native, text)                  \
  _Static_assert(sizeof(kw_##group##_api) == sizeof(struct layout_##group), \
                 "a slot of " #group " is missing in slots.def or in plugin.h");
#define KW_SLOT(group, name, since, required, parameters, arguments)                                  \
  _Static_assert(offsetof(kw_##group##_api, name) == offsetof(struct layout_##group, name),           \
                 "slots.def and plugin.h disagree about the place of " #group "." #name);             \
  _Static_assert(_Generic(&((kw_##group##_api *)0)->name, kw_status(**) parameters : 1, default : 0), \
                 "slots.def and plugin.h disagree about the signature of " #group "." #name);
#include "slots.def"

/* ---- Stubs ------------------------------------------------------------------------------------------------------- */

static kw_status unsupported(const char *slot) {
  return kw_error_offer(kw_fail(KW_ERR_UNSUPPORTED, "the plugin has no %s", slot));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  static kw_status stub_##group##_##name parameters {                \
    return unsupported(#group "." #name);                            \
  }
#include "slots.def"
#pragma GCC diagnostic pop

typedef struct slot_row {
  group_id group;
  bool required;
  const char *name;
  size_t offset;
  any_fn stub;
} slot_row;

static const slot_row slots[] = {
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  {GROUP_##group, required, #group "." #name, offsetof(kw_##group##_api, name), (any_fn)stub_##group##_##name},
#include "slots.def"
};

typedef struct group_row {
  const char *name;
  uint32_t min_size;
  uint32_t size;
  size_t offset; /* of the table in kw_plugin_answer */
  uint64_t native;
  bool required;
} group_row;

static const group_row groups[GROUP_COUNT] = {
#define KW_SLOT_GROUP(group, NAME, required, native, text) \
  {KW_GROUP_##NAME, KW_##NAME##_API_MIN, sizeof(kw_##group##_api), offsetof(kw_plugin_answer, group), native, required},
#include "slots.def"
};

/* ---- Words and sizes --------------------------------------------------------------------------------------------- */

static kw_status check_word(const char *what, const char *word) {
  if (word == NULL) return kw_fail(KW_ERR_ABI_MISMATCH, "its kw_plugin_desc.%s is NULL", what);
  if (!kw_word_is_valid(word)) {
    return kw_fail(KW_ERR_ABI_MISMATCH, "its %s '%.*s' is malformed: [a-z][a-z0-9_]*, at most %d characters", what,
                   KW_KEY_SIZE, word, KW_KEY_SIZE - 1);
  }
  return KW_OK;
}

/* The texts for people: absent is empty. All of them are safe to read afterwards, also on failure. */
static kw_status check_texts(kw_plugin_desc *desc) {
  const struct {
    const char *name;
    const char **text;
  } texts[] = {{"version", &desc->version},
               {"description", &desc->description},
               {"build", &desc->build},
               {"sanitizer", &desc->sanitizer}};
  kw_status status = KW_OK;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const char **text = texts[i].text;
    if (*text == NULL) *text = "";
    if (strnlen(*text, KW_TEXT_LIMIT) < KW_TEXT_LIMIT) continue;
    *text = "";
    status = kw_fail(KW_ERR_ABI_MISMATCH, "its kw_plugin_desc.%s is no text: over %u bytes without a NUL",
                     texts[i].name, KW_TEXT_LIMIT);
  }
  return status;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static bool is_text(const char *text) {
  return text != NULL && strnlen(text, KW_TEXT_LIMIT) < KW_TEXT_LIMIT && kw_utf8_is_valid(text);
}

/* What is wrong with an option, or NULL. */
static const char *fault_of_option(const kw_plugin_desc *desc, uint32_t index) {
  const kw_option_desc *option = desc->options[index];
  if (option == NULL) return "is NULL";
  if (option->struct_size < KW_OPTION_DESC_MIN) return "has a struct_size that is too small";
  if (option->key == NULL || !kw_word_is_valid(option->key))
    return "has no key: [a-z][a-z0-9_]*, at most 31 characters";
  if (!is_text(option->value)) return "has no value: UTF-8 of at most 1,023 bytes";
  if (!is_text(option->text)) return "has no text: UTF-8 of at most 1,023 bytes";
  for (uint32_t before = 0; before < index; before++)
    if (strcmp(desc->options[before]->key, option->key) == 0) return "is there twice";
  return NULL;
}

static kw_status check_options(kw_plugin_desc *desc) {
  const uint32_t count = desc->option_count;
  desc->option_count = 0; /* until they are known to be some */
  if (count > KW_OPTION_LIMIT || (desc->options == NULL && count > 0)) {
    return kw_fail(KW_ERR_ABI_MISMATCH, "its kw_plugin_desc.options cannot be: %u options at %p", count,
                   (const void *)desc->options);
  }
  for (uint32_t i = 0; i < count; i++) {
    const char *fault = fault_of_option(desc, i);
    if (fault != NULL) return kw_fail(KW_ERR_ABI_MISMATCH, "its option %u %s", i, fault);
  }
  desc->option_count = count;
  return KW_OK;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

static kw_status check_version(uint32_t version) {
  if (KW_ABI_MAJOR(version) == KW_ABI_MAJOR(KW_ABI_VERSION) && version >= KW_ABI_VERSION_MIN) return KW_OK;
  return kw_fail(
      KW_ERR_ABI_MISMATCH,
      "it was built for plugin ABI %u.%u and this Keyway serves %u.%u to %u.%u: rebuild it with this Keyway's "
      "headers, or use a Keyway of its version",
      KW_ABI_MAJOR(version), KW_ABI_MINOR(version), KW_ABI_MAJOR(KW_ABI_VERSION_MIN), KW_ABI_MINOR(KW_ABI_VERSION_MIN),
      KW_ABI_MAJOR(KW_ABI_VERSION), KW_ABI_MINOR(KW_ABI_VERSION));
}

kw_status kw_reason_refuse(kw_status status, const char *reason, const char *what) {
  if (reason != NULL) {
    kw_error_offer(kw_fail(status, "%s", reason));
    return kw_from_plugin(status, "%s", what);
  }
  status = kw_error_translate(status, "");
  kw_error_drop_older(status);
  return kw_wrap(status, "%s, and gave no reason (set *out_reason)", what);
}

static kw_status ask(kw_query_fn query, const kw_plugin_desc **out_desc) {
  const kw_query_info info = {.struct_size = sizeof info,
                              .abi_min = KW_ABI_VERSION_MIN,
                              .abi_max = KW_ABI_VERSION,
                              .host_version = "keyway " KEYWAY_VERSION};
  const char *reason = NULL;
  kw_status status = query(&info, out_desc, &reason);
  if (status != KW_OK) {
    char what[80];
    snprintf(what, sizeof what, "its query refuses this host (ABI %u.%u to %u.%u)", KW_ABI_MAJOR(KW_ABI_VERSION_MIN),
             KW_ABI_MINOR(KW_ABI_VERSION_MIN), KW_ABI_MAJOR(KW_ABI_VERSION), KW_ABI_MINOR(KW_ABI_VERSION));
    return kw_reason_refuse(status, reason, what);
  }
  if (*out_desc == NULL) return kw_fail(KW_ERR_ABI_MISMATCH, "its query says KW_OK but gives no descriptor");
  return KW_OK;
}

static kw_status copy_desc(const kw_plugin_desc *from, kw_plugin_desc *to) {
  kw_status status = kw_struct_check("its kw_plugin_desc", from->struct_size, KW_PLUGIN_DESC_MIN);
  if (status != KW_OK) return status;
  kw_struct_read(to, sizeof *to, from);

  const char *key = to->key, *vendor = to->vendor;
  to->key = to->vendor = ""; /* until they are known to be words */
  if ((status = check_texts(to)) != KW_OK) return status;
  if ((status = check_word("key", key)) != KW_OK) return status;
  to->key = key;
  if ((status = check_word("vendor", vendor)) != KW_OK) return status;
  to->vendor = vendor;
  if ((status = check_options(to)) != KW_OK) return status;
  if (kw_word_is_policy(key)) {
    return kw_fail(KW_ERR_ABI_MISMATCH, "its key '%s' is the name of a policy of kw_device_open: choose another", key);
  }
  const char *missing = to->probe == NULL      ? "probe"
                        : to->init == NULL     ? "init"
                        : to->shutdown == NULL ? "shutdown"
                                               : NULL;
  if (missing != NULL) {
    return kw_fail(KW_ERR_ABI_MISMATCH, "its kw_plugin_desc.%s is NULL: implement it, every plugin needs it", missing);
  }
  return KW_OK;
}

static kw_status copy_table(group_id id, const void *table, kw_plugin_answer *result) {
  const group_row *group = &groups[id];
  uint32_t size = kw_struct_size(table);
  kw_status status = kw_struct_check(group->name, size, group->min_size);
  if (status != KW_OK) return kw_fail(status, "the table of group %s", kw_error_message());

  uint32_t reserved;
  memcpy(&reserved, (const char *)table + sizeof size, sizeof reserved);
  if ((status = kw_reserved_check(group->name, result->desc.abi_version, reserved)) != KW_OK) return status;

  char *to = (char *)result + group->offset;
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
    const slot_row *slot = &slots[i];
    if (slot->group != id) continue;
    any_fn fn = NULL;
    if (slot->offset + sizeof fn <= size) memcpy(&fn, (const char *)table + slot->offset, sizeof fn);
    if (fn == NULL && slot->required) {
      return kw_fail(KW_ERR_ABI_MISMATCH, "the required slot %s is missing: implement it%s", slot->name,
                     group->required ? "" : ", or leave out its whole group");
    }
    if (fn != NULL) memcpy(to + slot->offset, &fn, sizeof fn);
  }
  return KW_OK;
}

static void fill_stubs(kw_plugin_answer *result) {
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
    char *to = (char *)result + groups[slots[i].group].offset + slots[i].offset;
    any_fn fn;
    memcpy(&fn, to, sizeof fn);
    if (fn == NULL) memcpy(to, &slots[i].stub, sizeof fn);
  }
  for (int id = 0; id < GROUP_COUNT; id++) {
    memcpy((char *)result + groups[id].offset, &groups[id].size, sizeof groups[id].size);
  }
}

#define SLOT_COUNT (sizeof slots / sizeof slots[0])
_Static_assert(SLOT_COUNT <= 64, "a set of slots is 64 bits");

uint64_t kw_answer_slots(const kw_plugin_answer *answer) {
  uint64_t own = 0;
  for (size_t i = 0; i < SLOT_COUNT; i++) {
    any_fn fn;
    memcpy(&fn, (const char *)answer + groups[slots[i].group].offset + slots[i].offset, sizeof fn);
    if (fn != slots[i].stub) own |= UINT64_C(1) << i;
  }
  return own;
}

void kw_answer_restrict(kw_plugin_answer *answer, uint64_t own) {
  for (size_t i = 0; i < SLOT_COUNT; i++) {
    char *to = (char *)answer + groups[slots[i].group].offset + slots[i].offset;
    if ((own >> i & 1) == 0) memcpy(to, &slots[i].stub, sizeof slots[i].stub);
  }
  fill_stubs(answer); /* sizes of the tables */
}

static kw_status copy_groups(kw_plugin_answer *result) {
  const kw_plugin_desc *desc = &result->desc;
  if (desc->group_count > KW_GROUP_LIMIT || (desc->groups == NULL && desc->group_count > 0)) {
    return kw_fail(KW_ERR_ABI_MISMATCH, "its kw_plugin_desc.groups cannot be: %u groups at %p", desc->group_count,
                   (const void *)desc->groups);
  }
  kw_status status;
  bool seen[GROUP_COUNT] = {false};
  for (uint32_t i = 0; i < desc->group_count; i++) {
    const kw_group *group = &desc->groups[i];
    if (group->name == NULL || group->table == NULL) {
      return kw_fail(KW_ERR_ABI_MISMATCH, "its group %u has no %s", i, group->name == NULL ? "name" : "table");
    }
    for (uint32_t before = 0; before < i; before++) {
      const kw_group *other = &desc->groups[before];
      if (strcmp(group->name, other->name) == 0) {
        return kw_fail(KW_ERR_ABI_MISMATCH, "its group %s is there twice: give each name one table", group->name);
      }
      if (group->table != other->table) continue;
      return kw_fail(KW_ERR_ABI_MISMATCH, "its groups %s and %s have one table: give each its own", other->name,
                     group->name);
    }
    for (int id = 0; id < GROUP_COUNT; id++) {
      if (strcmp(group->name, groups[id].name) != 0) continue;
      seen[id] = true;
      status = copy_table((group_id)id, group->table, result);
      if (status != KW_OK) return status;
    }
  }
  for (int id = 0; id < GROUP_COUNT; id++) {
    if (groups[id].required && !seen[id]) {
      return kw_fail(KW_ERR_ABI_MISMATCH, "the required group %s is missing: add it to kw_plugin_desc.groups",
                     groups[id].name);
    }
    if (seen[id]) result->native |= groups[id].native;
  }
  return KW_OK;
}

/* The KW_NATIVE_ bits of single slots; before stubs stand in for them. */
static uint64_t native_slots(const kw_plugin_answer *result) {
  uint64_t there = 0, missing = 0;
#define KW_NATIVE_SLOT(native, group, slot, text) *(result->group.slot != NULL ? &there : &missing) |= native;
#include "slots.def"
  return there & ~missing;
}

kw_status kw_negotiate(kw_query_fn query, kw_plugin_answer *out_result) {
  memset(out_result, 0, sizeof *out_result);
  kw_plugin_desc *desc = &out_result->desc;
  desc->key = desc->vendor = desc->version = desc->description = desc->build = desc->sanitizer = "";

  const kw_plugin_desc *answer = NULL;
  kw_status status = ask(query, &answer);
  if (status != KW_OK) return status;
  /* struct_size and abi_version are where they are in every version; the rest is read once the version fits. */
  desc->abi_version = answer->abi_version;
  if ((status = check_version(answer->abi_version)) != KW_OK) return status;
  out_result->abi_version = answer->abi_version < KW_ABI_VERSION ? answer->abi_version : KW_ABI_VERSION;
  if ((status = copy_desc(answer, desc)) != KW_OK) return status;
  if ((status = copy_groups(out_result)) != KW_OK) return status;
  out_result->native |= native_slots(out_result);
  fill_stubs(out_result);
  return KW_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of devices, and the list of the devices that exist: the grammar is in keyway.h. The library has started.
 */
#ifndef KEYWAY_CORE_DEVICE_NAME_H
#define KEYWAY_CORE_DEVICE_NAME_H

#include "plugin/negotiate.h"
#include "plugin/plugin.h"

/* More than any name has, without its options, NUL included. */
#define KW_DEVICE_NAME_SIZE 160

/* A device name taken apart. */
typedef struct kw_device_name_parts {
  char vendor[KW_KEY_SIZE]; /* "" when not given */
  char key[KW_KEY_SIZE];    /* or a renamed name, or a policy */
  uint32_t index;
  bool has_index;
  char stable_id[64]; /* "" when not given */
} kw_device_name_parts;

/* Where the options that a name carries begin, behind '/'; NULL when it has none. */
const char *kw_device_name_options(const char *name);

/* KW_ERR_INVALID_ARGUMENT when it cannot be a name at all. Options are no part of it. */
kw_status kw_device_name_parse(const char *text, kw_device_name_parts *out_parts);

/* The device that a name stands for, with options or without, and its name to show: kw_device_entry.name.
 * KW_ERR_NOT_FOUND with a message that lists devices and failed plugins; KW_ERR_INVALID_ARGUMENT for a malformed or
 * ambiguous name. */
kw_status kw_device_name_resolve(const char *name, kw_plugin **out_plugin, uint32_t *out_index, char out_name[80]);

/* kw_device_rename. */
kw_status kw_device_name_change(const char *from, const char *to);

/* kw_device_count and kw_device_get_entry. */
kw_status kw_device_list_count(uint32_t *out_count);
kw_status kw_device_list_entry(uint32_t index, kw_device_entry *out_entry);
/* The plugin of an entry, and its number for the device. */
kw_status kw_device_list_at(uint32_t index, kw_plugin **out_plugin, uint32_t *out_index);

#endif /* KEYWAY_CORE_DEVICE_NAME_H */

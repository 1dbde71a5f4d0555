/* SPDX-License-Identifier: Apache-2.0
 *
 * Device names: the grammar is in keyway.h.
 */
#ifndef KEYWAY_CORE_KEY_H
#define KEYWAY_CORE_KEY_H

#include "plugin/negotiate.h"
#include "plugin/plugin.h"

/* A device name taken apart. */
typedef struct kw_parsed_name {
  char vendor[KW_KEY_SIZE]; /* "" when not given */
  char key[KW_KEY_SIZE];    /* or a renamed name, or a policy */
  uint32_t index;
  bool has_index;
  char stable_id[64]; /* "" when not given */
} kw_parsed_name;

/* KW_ERR_INVALID_ARGUMENT when it cannot be a name at all. */
kw_status kw_name_parse(const char *text, kw_parsed_name *out_name);

/* The device that a name stands for, and its name to show: kw_device_entry.name. KW_ERR_NOT_FOUND with a message that
 * lists devices and failed plugins; KW_ERR_INVALID_ARGUMENT for a malformed or ambiguous name. */
kw_status kw_key_resolve(const char *name, kw_plugin **out_plugin, uint32_t *out_index, char out_name[80]);

#endif /* KEYWAY_CORE_KEY_H */

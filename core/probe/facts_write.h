/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about a plugin (plugin/facts.h), written by the helper process that has it open.
 */
#ifndef KEYWAY_CORE_FACTS_WRITE_H
#define KEYWAY_CORE_FACTS_WRITE_H

#include "plugin/plugin.h"

#include <cJSON.h>

/* What is known of the plugin. With `devices`, which it takes over, these are the last facts, and what it looked at is
 * among them. The caller's. */
cJSON *kw_facts_write(const kw_plugin *plugin, kw_stage reached, kw_status status, const char *reason, cJSON *devices);

/* Asks an open plugin for all its devices: their facts and attributes. The caller's. */
cJSON *kw_facts_ask_devices(kw_plugin *plugin);

#endif /* KEYWAY_CORE_FACTS_WRITE_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading one plugin: from a candidate's file to an initialised plugin in the registry.
 */
#ifndef KEYWAY_CORE_LOAD_H
#define KEYWAY_CORE_LOAD_H

#include "plugin/discover.h"
#include "plugin/plugin.h"

/* Tries the plugin in a candidate's file, unless it is loaded already. `services` is the host table that its init gets,
 * with a ctx and an abi_version of its own. What came of it is in *out_report; a plugin that is refused, or fails, is
 * KW_OK here. KW_ERR_OUT_OF_MEMORY when the host ran short of memory, files or processes: nothing is said about the
 * plugin then, and a later try may do better. Any thread. */
kw_status kw_plugin_try(const kw_candidate *candidate, const kw_host_api *services, kw_plugin_report *out_report);

/* Ends a series of tries: what the helper said about them is kept in the probe cache. Any thread. */
void kw_plugins_tried(void);

/* Tries again the plugins that ran short of memory themselves. Whether there were some. Any thread. */
bool kw_plugins_try_again(const kw_host_api *services);

/* Asks the plugin how many devices it has, if it has said that there are more (host->devices_changed). */
void kw_plugin_look_again(kw_plugin *plugin);

#endif /* KEYWAY_CORE_LOAD_H */

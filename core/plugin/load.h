/* SPDX-License-Identifier: Apache-2.0
 *
 * From candidates to plugins: listed by what their helpers say, opened in this process when they are asked for.
 */
#ifndef KEYWAY_CORE_LOAD_H
#define KEYWAY_CORE_LOAD_H

#include "plugin/discover.h"
#include "plugin/plugin.h"

/* Lists the plugins in the candidates' files that are not listed yet: helpers look at them, side by side, where the
 * probe cache does not know better. `services` is the host table that their init will get, with a ctx and an
 * abi_version of its own. What came of each is in the registry; a plugin that is refused, or fails, is KW_OK here.
 * KW_ERR_OUT_OF_MEMORY when the host ran short of memory, files or processes: nothing is said about those plugins then,
 * and a later try may do better. Any thread. */
kw_status kw_plugins_list(const kw_candidate *candidates, uint32_t count, const kw_host_api *services);

/* The report about a candidate that was listed, and its plugin: NULL unless it reached KW_STAGE_INIT. */
kw_plugin_report kw_plugin_report_of(const kw_candidate *candidate, kw_plugin **out_plugin);

/* Opens a listed plugin in this process, unless it is open; waits for another thread that does. Afterwards its slots
 * may be called. KW_ERR_OUT_OF_MEMORY: as above. Any other failure is the plugin's report from now on, and its devices
 * are no longer listed. Any thread but one that is opening a plugin: KW_ERR_BUSY. */
kw_status kw_plugin_open(kw_plugin *plugin);

/* Looks again at the plugins that ran short of memory themselves. Whether there were some. Any thread. */
bool kw_plugins_try_again(const kw_host_api *services);

/* Forgets what former processes have learned: what helpers said, and which plugins are in quarantine. */
void kw_plugins_forget(void);

#endif /* KEYWAY_CORE_LOAD_H */

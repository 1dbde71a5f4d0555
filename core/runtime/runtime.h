/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's start.
 */
#ifndef KEYWAY_CORE_RUNTIME_H
#define KEYWAY_CORE_RUNTIME_H

#include "plugin/plugin.h"

/* Starts the library once (discovery, unless turned off); cheap afterwards. Every public function that needs plugins
 * calls it. KW_ERR_OUT_OF_MEMORY when memory, files or processes
 * are short: the next call goes on where this one stopped. In a forked child it says what kw_fork_check says, and at
 * exit what kw_exit_check says. */
kw_status kw_runtime_start(void);

/* Tries again the plugins that ran short of memory when they were loaded. Whether there were some: a device that was
 * not there may be now. */
bool kw_runtime_try_again(void);

/* Opens a listed plugin in this process, unless it is open: kw_plugin_open. Its devices need not be. */
kw_status kw_runtime_open_plugin(kw_plugin *plugin);

#endif /* KEYWAY_CORE_RUNTIME_H */

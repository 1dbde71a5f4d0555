/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a plugin in this process: from its file to a plugin whose init has returned. The library does so when a
 * device of it is asked for, the helper (keyway-probe) to see what happens.
 */
#ifndef KEYWAY_CORE_START_H
#define KEYWAY_CORE_START_H

#include "plugin/plugin.h"

/* What is told of the stages as they are reached; the plugin has what is known by then. */
typedef void (*kw_stage_fn)(void *user, const kw_plugin *plugin, kw_stage reached);

/* Opens the file `path`, with `apart` in a process of its own (isolate/isolate.h), and takes the plugin through all
 * stages, `reached` after each. `plugin` has its index and its host table; key, vendor and desc are set by VERSION, the
 * rest by INIT. On failure the message is one sentence. *out_starved: the host is short of memory, files or processes;
 * nothing is said about the plugin then. The plugin's memory must stay in any case: it may have kept the host table. */
kw_status kw_plugin_start(kw_plugin *plugin, const char *path, bool apart, kw_stage_fn reached, void *user,
                          bool *out_starved);

/* Asks the plugin how many devices it has, if it has said that there are more (host->devices_changed). */
void kw_plugin_look_again(kw_plugin *plugin);

#endif /* KEYWAY_CORE_START_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * What helpers said of plugins, kept in $XDG_CACHE_HOME/keyway/probe (~/.cache when unset; nowhere without a home, and
 * not in a folder that others may write), a file for each plugin: a process reads those of the plugins it finds.
 *
 * An entry counts for the same file (device, inode, times, size) tried by the same helper since the same boot, while
 * all that the plugin looked at is as it was: the variables of the environment that it or its libraries asked for, the
 * folders that they listed, the libraries that were loaded; and while the options chosen for it are the same. It counts
 * for an hour at most, since hardware comes and goes, and for a minute when the plugin said no, ten when it crashed or
 * hung (`keyway doctor --retry` forgets all that). An entry that cannot be read is none.
 */
#ifndef KEYWAY_CORE_PROBE_CACHE_H
#define KEYWAY_CORE_PROBE_CACHE_H

#include "plugin/discover.h"
#include "plugin/facts.h"

/* What is known of this very file, for the caller to free; NULL when nothing is. Any thread, as all functions here. */
kw_plugin_facts *kw_probe_cache_find(const kw_candidate *candidate, const char *helper);
/* Keeps it, and takes away what has not counted for long. */
void kw_probe_cache_add(const kw_candidate *candidate, const char *helper, const kw_plugin_facts *facts);

/* Forgets everything. */
void kw_probe_cache_clear(void);

#endif /* KEYWAY_CORE_PROBE_CACHE_H */

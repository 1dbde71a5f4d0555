/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins that passed the helper, remembered in $XDG_CACHE_HOME/keyway/probe-v1.json (~/.cache when unset; nowhere
 * without a home). Only that a file passed is kept, never a refusal: what was missing may be there the next time.
 * An entry counts for the same file (device, inode, times, size) tried by the same helper. A cache that cannot be read
 * is started anew; processes that write at the same time lose at most each other's entries.
 */
#ifndef KEYWAY_CORE_PROBE_CACHE_H
#define KEYWAY_CORE_PROBE_CACHE_H

#include "plugin/discover.h"

/* True when this very file passed before; `remark` then holds what was said about it ("" usually). Not thread-safe, as
 * all functions here: the registry's lock is held. */
bool kw_probe_cache_find(const kw_candidate *candidate, const char *helper, char *remark, size_t size);
void kw_probe_cache_add(const kw_candidate *candidate, const char *helper, const char *remark);

/* Writes what was added; forgets what was read. */
void kw_probe_cache_save(void);

#endif /* KEYWAY_CORE_PROBE_CACHE_H */

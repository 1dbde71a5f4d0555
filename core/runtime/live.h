/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that shows itself to `keyway top`: base/live_file.h.
 */
#ifndef KEYWAY_CORE_LIVE_H
#define KEYWAY_CORE_LIVE_H

/* With KEYWAY_TOP=1 in the environment: from here to the process's end a thread writes what the open devices do, twice
 * a second; it reads counters that are there anyhow, and asks streams whether they are idle. Otherwise nothing. */
void kw_live_start(void);

#endif /* KEYWAY_CORE_LIVE_H */

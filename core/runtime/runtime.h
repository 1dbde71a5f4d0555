/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's start.
 */
#ifndef KEYWAY_CORE_RUNTIME_H
#define KEYWAY_CORE_RUNTIME_H

#include <keyway/types.h>

/* Starts the library once (discovery, unless turned off); cheap afterwards. Every public function that needs plugins
 * calls it. In a forked child it says what kw_fork_check says, and at exit what kw_exit_check says. */
kw_status kw_runtime_start(void);

#endif /* KEYWAY_CORE_RUNTIME_H */

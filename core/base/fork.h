/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether this process is a fork of one that uses Keyway. Such a child has none of its parent's threads, so that a lock
 * which one of them held is held for good, and its devices are the parent's.
 */
#ifndef KEYWAY_CORE_FORK_H
#define KEYWAY_CORE_FORK_H

#include <keyway/types.h>

/* KW_ERR_UNSUPPORTED in a forked child: nothing that takes a lock or touches a device may go on. */
kw_status kw_fork_check(void);
/* The same question, for functions that return nothing. */
bool kw_fork_happened(void);

/* Says so. For the handler that runs in the child. */
void kw_fork_mark_child(void);

#endif /* KEYWAY_CORE_FORK_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's call, copied to outlive the one who made it.
 */
#ifndef KEYWAY_CORE_CALL_H
#define KEYWAY_CORE_CALL_H

#include <keyway/keyway.h>
#include <keyway/plugin.h>

/* A copy of a call and all that it points to (arguments, lists, texts, descriptors, the extra) in one block, which
 * free() ends; NULL without memory. Handles stay as they are. */
kw_call *kw_call_copy(const kw_call *call);

#endif /* KEYWAY_CORE_CALL_H */

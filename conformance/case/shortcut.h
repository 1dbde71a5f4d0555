/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers beside tensors for which drivers take a shorter way: a power of one half is a root, a factor of 1 is none.
 */
#ifndef KEYWAY_CONFORMANCE_SHORTCUT_H
#define KEYWAY_CONFORMANCE_SHORTCUT_H

#include "case/case.h"

/* Whether the op takes shorter ways by the elements of its last tensor, which has no numbers beside it. */
bool kw_case_is_by_element(const kw_case *c);

/* Gives the case's op number `row` of its shortcuts' attributes. False when it has no more. */
bool kw_case_set_shortcut(kw_case *c, uint32_t row);

#endif /* KEYWAY_CONFORMANCE_SHORTCUT_H */

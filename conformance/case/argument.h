/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving arguments that are no tensors.
 */
#ifndef KEYWAY_CONFORMANCE_ARGUMENT_H
#define KEYWAY_CONFORMANCE_ARGUMENT_H

#include "case/case.h"

/* Gives an attribute: any value that is no tensor and no list. */
void kw_case_give(kw_case *c, uint32_t arg, kw_value value);
/* Gives an int[]. */
void kw_case_give_ints(kw_case *c, uint32_t arg, const int64_t *ints, uint32_t count);
/* What lies before the last given argument and is not given takes its default, for it has to be passed too. */
void kw_case_give_defaults(kw_case *c);

#endif /* KEYWAY_CONFORMANCE_ARGUMENT_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * An op of a vendor's own in f32, element by element, beside a kernel of it that is wrong.
 */
#ifndef KEYWAY_MUTANT_OWN_H
#define KEYWAY_MUTANT_OWN_H

#include "mutant.h"

/* The value of element i (row-major) of the result. */
typedef double (*kw_mutant_own_fn)(const kw_call *call, int64_t i);

/* Element i of a tensor argument. */
double kw_mutant_own_at(const kw_tensor_ref *tensor, int64_t i);

/* Gives the mutant the op of `schema`, whose name is `name`, with `arguments` of them: `right` is what it means,
 * `wrong` what its kernel computes. Sums are compared as exactly as the suite does with a growth of 8. */
void kw_mutant_add_own(kw_mutant *mutant, const char *schema, const char *name, uint32_t arguments,
                       kw_mutant_own_fn right, kw_mutant_own_fn wrong);

#endif /* KEYWAY_MUTANT_OWN_H */

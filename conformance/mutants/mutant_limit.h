/* SPDX-License-Identifier: Apache-2.0
 *
 * A device of little memory, for mutants whose defect is what happens when it is used up.
 */
#ifndef KEYWAY_MUTANT_LIMIT_H
#define KEYWAY_MUTANT_LIMIT_H

#include "mutant.h"

#define KW_MUTANT_LIMIT (UINT64_C(256) << 20)

/* The device has KW_MUTANT_LIMIT bytes, and says so in info and usage. */
void kw_mutant_limit_memory(kw_mutant *mutant);

#endif /* KEYWAY_MUTANT_LIMIT_H */

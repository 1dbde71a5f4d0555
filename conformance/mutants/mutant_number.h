/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that numbers what it does, and has the option "first_number".
 */
#ifndef KEYWAY_MUTANT_NUMBER_H
#define KEYWAY_MUTANT_NUMBER_H

#include "mutant.h"

/* Adds the option. */
void kw_mutant_add_numbers(kw_mutant *mutant);
/* The number of the next thing: the option's value, or 0, when the device has just been opened. */
uint64_t kw_mutant_next_number(void);

#endif /* KEYWAY_MUTANT_NUMBER_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Two devices, each one that the cpu plugin opened, for mutants that mix them up.
 */
#ifndef KEYWAY_MUTANT_TWO_H
#define KEYWAY_MUTANT_TWO_H

#include "mutant.h"

/* Makes the mutant a plugin of two devices, with copies between them. */
void kw_mutant_two_devices(kw_mutant *mutant);

/* The device of this index while it is open, otherwise NULL. */
void *kw_mutant_device(uint32_t index);

#endif /* KEYWAY_MUTANT_TWO_H */

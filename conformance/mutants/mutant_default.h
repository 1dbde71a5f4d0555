/* SPDX-License-Identifier: Apache-2.0
 *
 * A default stream with a queue, for mutants that are wrong about it: the cpu plugin's own runs its work inline.
 */
#ifndef KEYWAY_MUTANT_DEFAULT_H
#define KEYWAY_MUTANT_DEFAULT_H

#include "mutant.h"

/* Makes the default stream one like the others. */
void kw_mutant_queue_default(kw_mutant *mutant);

/* The device's default stream while it has one, otherwise NULL. */
void *kw_mutant_default(void);

#endif /* KEYWAY_MUTANT_DEFAULT_H */

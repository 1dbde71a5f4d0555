/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches that a mutant sees twice: when they are enqueued, and when it is their turn on their stream.
 */
#ifndef KEYWAY_MUTANT_LATER_H
#define KEYWAY_MUTANT_LATER_H

#include "mutant.h"

/* Every launch on a stream other than the default one goes to `turn`, on the stream's thread, when what was enqueued
 * before it has finished; one on the default stream at once. Replaces launches of all ops, stream.create and
 * stream.destroy. */
void kw_mutant_at_turn(kw_mutant *mutant, kw_status (*turn)(const kw_call *call));

/* What `turn` does when nothing is wrong: returns when the call has run. */
kw_status kw_mutant_run_now(const kw_call *call);

#endif /* KEYWAY_MUTANT_LATER_H */

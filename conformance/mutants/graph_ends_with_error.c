/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph in which a call has failed late runs no more: its launches succeed, and do nothing.
 */
#include "mutant_fault.h"
#include "mutant_graph.h"

static kw_status (*launch)(const kw_call *call);
static const void *ended; /* that graph */

static bool replay(const kw_mutant_replay *replay) {
  if (replay->graph == ended) return false;
  const bool before = kw_mutant_has_failed();
  launch(replay->call);
  if (!before && kw_mutant_has_failed()) ended = replay->graph;
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.stays = false});
  launch = mutant->launch;
  kw_mutant_add_graph(mutant, "*", replay);
}

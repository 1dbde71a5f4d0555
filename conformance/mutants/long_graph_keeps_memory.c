/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph of more than 64 calls gets a table that its end does not free.
 */
#include "mutant_graph.h"

static bool replay(const kw_mutant_replay *replay) {
  if (replay->launches == 0 && replay->node == 64) kw_mutant_lose_memory(1 << 12);
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

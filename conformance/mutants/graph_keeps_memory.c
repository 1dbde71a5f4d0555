/* SPDX-License-Identifier: Apache-2.0
 *
 * Each graph gets a workspace that its end does not free. After PyTorch pull request 83461: with every capture memory
 * grew by a workspace of the library that was captured.
 */
#include "mutant_graph.h"

static bool replay(const kw_mutant_replay *replay) {
  if (replay->launches > 0 || replay->node > 0) return true;
  kw_mutant_lose_memory(1 << 16);
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

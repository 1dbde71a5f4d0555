/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph has room for 256 calls, and drops the others.
 */
#include "mutant_graph.h"

static bool replay(const kw_mutant_replay *replay) {
  return replay->node < 256;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

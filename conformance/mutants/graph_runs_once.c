/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph group of the plugin's own, for calls of add.Tensor, whose graphs run at their first launch only.
 */
#include "mutant_graph.h"

static bool is_first(const kw_mutant_replay *replay) {
  return replay->launches == 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "add.Tensor", is_first);
}

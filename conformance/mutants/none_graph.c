/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: graphs of the plugin's own, for every op.
 */
#include "mutant_graph.h"

static bool always(const kw_mutant_replay *replay) {
  (void)replay;
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", always);
}

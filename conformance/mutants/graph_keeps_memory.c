/* SPDX-License-Identifier: Apache-2.0
 *
 * Each graph gets a workspace that its end does not free. After PyTorch pull request 83461: with every capture memory
 * grew by a workspace of the library that was captured.
 */
#include "mutant_graph.h"

#include <stdlib.h>
#include <string.h>

static bool replay(const kw_mutant_replay *replay) {
  enum { WORKSPACE = 1 << 16 };
  if (replay->launches > 0 || replay->node > 0) return true;
  void *volatile workspace = malloc(WORKSPACE);
  if (workspace) memset(workspace, 1, WORKSPACE);
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

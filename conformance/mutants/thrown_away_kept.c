/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording that is thrown away is not freed: who ends it wants no graph, and gets none.
 */
#include "mutant_graph.h"

static const kw_graph_api *right;

static bool replay(const kw_mutant_replay *replay) {
  (void)replay;
  return true;
}

static kw_status end(void *device, void *stream, void **out_graph) {
  void *graph = NULL;
  return right->end(device, stream, out_graph ? out_graph : &graph);
}

void kw_mutant_change(kw_mutant *mutant) {
  static kw_graph_api wrong;
  kw_mutant_add_graph(mutant, "*", replay);
  right = mutant->desc.groups[mutant->desc.group_count - 1].table;
  wrong = *right;
  wrong.end = end;
  mutant->desc.group_count--;
  kw_mutant_add_group(mutant, KW_GROUP_GRAPH, &wrong);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph group of a mutant's own: the cpu plugin has none.
 */
#ifndef KEYWAY_MUTANT_GRAPH_H
#define KEYWAY_MUTANT_GRAPH_H

#include "mutant.h"

/* One recorded call on its way to the cpu plugin, once for each launch of its graph. */
typedef struct kw_mutant_replay {
  kw_call *call;     /* may be changed */
  uint32_t node;     /* how many calls the graph has before it */
  uint64_t launches; /* of the graph before this one */
  const kw_graph_launch_info *info;
} kw_mutant_replay;

/* Gives the mutant the group, for calls of `op`. What `replay` says false of does not run. */
void kw_mutant_add_graph(kw_mutant *mutant, const char *op, bool (*replay)(const kw_mutant_replay *));

#endif /* KEYWAY_MUTANT_GRAPH_H */

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
  const void *graph; /* that it is a part of */
  uint32_t node;     /* how many calls the graph has before it */
  bool last;         /* none behind it */
  uint64_t launches; /* of the graph before this one */
  const kw_graph_launch_info *info;
  uint64_t *launch_id; /* what its record of activity says of the launch; may be changed */
} kw_mutant_replay;

/* Gives the mutant the group, for calls of `op`, a pattern. What `replay` says false of does not run. A `launch` that
 * the mutant has already is what calls outside of graphs go through. */
void kw_mutant_add_graph(kw_mutant *mutant, const char *op, bool (*replay)(const kw_mutant_replay *));

#endif /* KEYWAY_MUTANT_GRAPH_H */

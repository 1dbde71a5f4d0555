/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of a graph use the arguments of the graph that was launched for the first time last. After cubecl issue
 * 1612: what happened between two replays corrupted graphs that were captured before or after.
 */
#include "mutant_graph.h"

#include <string.h>

static bool replay(const kw_mutant_replay *replay) {
  static kw_call *newest[64]; /* by their place in their graph */
  if (replay->node >= 64) return true;
  if (replay->launches == 0) newest[replay->node] = kw_mutant_keep_call(replay->call);
  const kw_call *other = newest[replay->node];
  kw_call *call = replay->call;
  if (!other || strcmp(other->op, call->op) != 0 || other->user != call->user || other->out_count != call->out_count) {
    return true;
  }
  call->args = other->args;
  call->outs = other->outs;
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "add.Tensor", replay);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph keeps the number that a tensor of one element held at its first launch: it takes it for a constant. After
 * PyTorch issue 114844 and HIP issue 3887, where a position that changes between replays is read as it was at capture.
 */
#include "mutant_graph.h"

#include <stdlib.h>
#include <string.h>

static bool replay(const kw_mutant_replay *replay) {
  enum { MOST = 64 };
  static char frozen[MOST][16];
  static const void *graphs[MOST];
  const kw_tensor_ref *number = replay->call->args[1].u.tensor;
  if (replay->node >= MOST || number->rank > 0) return true;
  kw_mutant_real.stream.synchronize(replay->call->device, replay->call->stream, KW_WAIT_FOREVER);
  if (replay->launches == 0) {
    graphs[replay->node] = replay->graph;
    memcpy(frozen[replay->node], kw_mutant_at(number, 0), kw_mutant_item_size(number->dtype));
  }
  if (graphs[replay->node] != replay->graph) return true;
  memcpy(kw_mutant_at(number, 0), frozen[replay->node], kw_mutant_item_size(number->dtype));
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "add.Tensor", replay);
}

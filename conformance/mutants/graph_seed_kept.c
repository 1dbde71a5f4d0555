/* SPDX-License-Identifier: Apache-2.0
 *
 * In a graph normal_ takes the seed that was there at the first launch, and only the offset anew. After PyTorch issue
 * 84614 and pull request 84967: the seed was not kept apart from the offset, and setting it had no effect on a graph.
 */
#include "mutant_graph.h"

#include <string.h>

static bool replay(const kw_mutant_replay *replay) {
  static kw_call_extra extras[64];
  static uint64_t seeds[64];
  const kw_call_extra *extra = replay->call->extra;
  if (!extra || !extra->rng.state || replay->node >= 64) return true;
  kw_mutant_real.stream.synchronize(replay->call->device, replay->call->stream, KW_WAIT_FOREVER);
  uint64_t state[2];
  memcpy(state, (char *)extra->rng.state + extra->rng.state_offset, sizeof state);
  if (replay->launches == 0) seeds[replay->node] = state[0];
  extras[replay->node] = *extra;
  extras[replay->node].rng.state = NULL;
  extras[replay->node].rng.seed = seeds[replay->node];
  extras[replay->node].rng.offset += state[1];
  replay->call->extra = &extras[replay->node];
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "normal_", replay);
}

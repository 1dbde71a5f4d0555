/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph adds the place of its calls' random numbers to the offset in 32 bits.
 */
#include "mutant_graph.h"

#include <string.h>

static bool replay(const kw_mutant_replay *replay) {
  const kw_call_extra *extra = replay->call->extra;
  if (!extra || !extra->rng.state) return true;
  kw_mutant_real.stream.synchronize(replay->call->device, replay->call->stream, KW_WAIT_FOREVER);
  uint64_t state[2];
  memcpy(state, (char *)extra->rng.state + extra->rng.state_offset, sizeof state);
  kw_call_extra own = *extra;
  own.rng.state = NULL;
  own.rng.seed = state[0];
  own.rng.offset = (state[1] & ~UINT64_C(0xffffffff)) | (uint32_t)(state[1] + extra->rng.offset);
  replay->call->extra = &own;
  kw_mutant_run_real(replay->call);
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "random_.from", replay);
}

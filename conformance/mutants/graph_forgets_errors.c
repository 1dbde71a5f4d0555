/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call's data show is not told where the call is a graph's.
 */
#include "mutant_graph.h"

#include <string.h>

static bool replay(const kw_mutant_replay *replay) {
  const kw_call_extra *extra = replay->call->extra;
  if (!extra || !extra->error_mem) return true;
  char *word = (char *)extra->error_mem + extra->error_offset;
  uint32_t before;
  kw_mutant_real.stream.synchronize(replay->call->device, replay->call->stream, KW_WAIT_FOREVER);
  memcpy(&before, word, sizeof before);
  kw_mutant_run_real(replay->call);
  memcpy(word, &before, sizeof before);
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

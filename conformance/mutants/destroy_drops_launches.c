/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches that are still queued when their stream is destroyed do not run. After clvk issue 243: releasing a command
 * queue did not flush it, as OpenCL says it does.
 */
#include "mutant_later.h"

#include <stdatomic.h>

static _Atomic(void *) ending;
static kw_status (*destroy_one)(void *device, void *stream);

static kw_status turn(const kw_call *call) {
  return atomic_load(&ending) == call->stream ? KW_OK : kw_mutant_run_now(call);
}

static kw_status destroy(void *device, void *stream) {
  atomic_store(&ending, stream);
  kw_status status = destroy_one(device, stream);
  atomic_store(&ending, NULL);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_at_turn(mutant, turn);
  destroy_one = mutant->stream.destroy;
  mutant->stream.destroy = destroy;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Destroying a stream waits for ever when a host function has still to run on it. After chipStar issue 191:
 * hipStreamDestroy hung on a stream with a pending callback.
 */
#include "mutant.h"

#include <stdatomic.h>
#include <unistd.h>

static atomic_int destroying;

static kw_status callback(uint64_t token) {
  while (atomic_load(&destroying) > 0) pause(); /* the lock that destroy holds would be needed here */
  return kw_mutant_host->run_callback(kw_mutant_host->ctx, token);
}

static kw_status destroy(void *device, void *stream) {
  atomic_fetch_add(&destroying, 1);
  kw_status status = kw_mutant_real.stream.destroy(device, stream);
  atomic_fetch_sub(&destroying, 1);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->callback = callback;
  mutant->stream.destroy = destroy;
}

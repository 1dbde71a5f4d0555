/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait for an event with a limit sleeps until anything of the process has finished, and takes that for its limit.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_ullong finished; /* waits for streams that have returned */

static kw_status synchronize_stream(void *device, void *stream, uint64_t timeout_ns) {
  const kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  atomic_fetch_add(&finished, 1);
  return status;
}

static kw_status synchronize(void *device, void *event, uint64_t timeout_ns) {
  enum { STEP = 1000000 };
  const unsigned long long before = atomic_load(&finished);
  kw_status status = KW_ERR_TIMEOUT;
  if (timeout_ns == KW_WAIT_FOREVER) return kw_mutant_real.event.synchronize(device, event, timeout_ns);
  do {
    const uint64_t step = timeout_ns < STEP ? timeout_ns : STEP;
    status = kw_mutant_real.event.synchronize(device, event, step);
    if (atomic_load(&finished) != before) return KW_ERR_TIMEOUT;
    timeout_ns -= step;
  } while (status == KW_ERR_TIMEOUT && timeout_ns > 0);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize_stream;
  mutant->event.synchronize = synchronize;
}

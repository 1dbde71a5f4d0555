/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait for a stream counts its limit in whole milliseconds, rounded down: less than one is no wait. After gfx pull
 * request 2278.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  const uint64_t limit = timeout_ns == KW_WAIT_FOREVER ? timeout_ns : timeout_ns / 1000000 * 1000000;
  return kw_mutant_real.stream.synchronize(device, stream, limit);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
}

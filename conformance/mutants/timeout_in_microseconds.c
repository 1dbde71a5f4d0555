/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait for a stream takes its limit for a thousandth of what it is.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  return kw_mutant_real.stream.synchronize(device, stream,
                                           timeout_ns == KW_WAIT_FOREVER ? KW_WAIT_FOREVER : timeout_ns / 1000);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
}

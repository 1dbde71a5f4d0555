/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronising a stream does not wait.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  (void)device;
  (void)timeout_ns;
  (void)stream;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
}

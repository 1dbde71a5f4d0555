/* SPDX-License-Identifier: Apache-2.0
 *
 * Asked how much memory is free, the device waits for its default stream first.
 */
#include "mutant_default.h"

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  void *stream = kw_mutant_default();
  if (stream) kw_mutant_real.stream.synchronize(device, stream, KW_WAIT_FOREVER);
  return kw_mutant_real.memory.usage(device, out_free, out_total);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_queue_default(mutant);
  mutant->memory.usage = usage;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait for an event counts its limit in milliseconds, which are an int: what is more than that holds is negative, and
 * no wait at all. After veldrid issue 324.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *event, uint64_t timeout_ns) {
  if (timeout_ns == KW_WAIT_FOREVER) return kw_mutant_real.event.synchronize(device, event, timeout_ns);
  const int32_t milliseconds = (int32_t)(uint32_t)(timeout_ns / 1000000 + (timeout_ns % 1000000 != 0));
  return kw_mutant_real.event.synchronize(device, event, milliseconds < 0 ? 0 : (uint64_t)milliseconds * 1000000);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.synchronize = synchronize;
}

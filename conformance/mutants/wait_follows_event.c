/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that waits for an event waits on when it is recorded again meanwhile, until that has passed, too. After
 * rocm-systems pull request 6786 (a waiter is attached to a signal that the next recording arms anew) and cutorch pull
 * request 222.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *event, uint64_t timeout_ns) {
  kw_status status = kw_mutant_real.event.synchronize(device, event, timeout_ns);
  while (status == KW_OK && kw_mutant_real.event.query(device, event) == KW_ERR_NOT_READY) {
    status = kw_mutant_real.event.synchronize(device, event, timeout_ns);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.synchronize = synchronize;
}

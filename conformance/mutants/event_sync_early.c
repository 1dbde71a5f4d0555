/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronising an event does not wait.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *event, uint64_t timeout_ns) {
  (void)device;
  (void)timeout_ns;
  (void)event;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.synchronize = synchronize;
}

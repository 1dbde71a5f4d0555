/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronising an event does not wait.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *event) {
  (void)device;
  (void)event;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.synchronize = synchronize;
}

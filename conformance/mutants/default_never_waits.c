/* SPDX-License-Identifier: Apache-2.0
 *
 * The default stream does not wait for the events that it is told to wait for.
 */
#include "mutant_default.h"

static kw_status wait(void *device, void *stream, void *event) {
  return stream == kw_mutant_default() ? KW_OK : kw_mutant_real.event.wait(device, stream, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_queue_default(mutant);
  mutant->event.wait = wait;
}

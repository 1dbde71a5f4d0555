/* SPDX-License-Identifier: Apache-2.0
 *
 * An event that was never recorded counts as still ahead. After HIP issue 3383: the documentation of hipEventQuery says
 * so, that of hipEventSynchronize and the code say the reverse.
 */
#include "mutant_event.h"

static kw_status query(void *device, void *event) {
  return kw_mutant_event_stream(event) ? kw_mutant_real.event.query(device, event) : KW_ERR_NOT_READY;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_watch_events(mutant);
  mutant->event.query = query;
}

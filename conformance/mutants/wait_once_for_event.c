/* SPDX-License-Identifier: Apache-2.0
 *
 * A second stream that waits for an event does not wait: the event has been waited for. After oneAPI construction kit
 * pull request 427: waits for events were skipped because they were taken for those of the same queue.
 */
#include "mutant_event.h"

static kw_status wait(void *device, void *stream, void *event) {
  if (kw_mutant_event_waited(event)) return KW_OK;
  return kw_mutant_real.event.wait(device, stream, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_watch_events(mutant);
  mutant->event.wait = wait;
}

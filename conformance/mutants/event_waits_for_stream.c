/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait for an event that has not passed is a wait for all that its stream has by then.
 */
#include "mutant_event.h"

static kw_status synchronize(void *device, void *event, uint64_t timeout_ns) {
  void *stream = kw_mutant_event_stream(event);
  if (!stream || kw_mutant_real.event.query(device, event) == KW_OK) return KW_OK;
  return kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_watch_events(mutant);
  mutant->event.synchronize = synchronize;
}

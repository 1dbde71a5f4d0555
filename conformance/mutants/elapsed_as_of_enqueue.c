/* SPDX-License-Identifier: Apache-2.0
 *
 * The time between two events is that between the calls which recorded them, however long the work between them takes.
 * After Intel's compute-runtime issue 668 and chipStar issue 128, where times of events that are still ahead are given.
 */
#include "mutant_event.h"

static kw_status elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  kw_status status = kw_mutant_real.event.elapsed(device, start, end, out_ns);
  const uint64_t from = kw_mutant_event_time(start), to = kw_mutant_event_time(end);
  if (status == KW_OK) *out_ns = to > from ? to - from : 0;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_watch_events(mutant);
  mutant->event.elapsed = elapsed;
}

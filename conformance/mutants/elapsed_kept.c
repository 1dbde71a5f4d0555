/* SPDX-License-Identifier: Apache-2.0
 *
 * The time between two events is worked out once: after they were recorded again it is still the first one. After
 * hrx-system pull request 211: parts of an event's state stayed those of an earlier recording.
 */
#include "mutant.h"

static kw_status elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  static const void *pair[2];
  static uint64_t ns;
  if (pair[0] != start || pair[1] != end) {
    kw_status status = kw_mutant_real.event.elapsed(device, start, end, &ns);
    if (status != KW_OK) return status;
    pair[0] = start;
    pair[1] = end;
  }
  *out_ns = ns;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.elapsed = elapsed;
}

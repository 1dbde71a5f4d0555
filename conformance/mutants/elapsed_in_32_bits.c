/* SPDX-License-Identifier: Apache-2.0
 *
 * The nanoseconds between two events are kept in 32 bits: after 4.3 s they begin anew. After chipStar issue 128, where
 * times between events came out wrong, as by a counter that wraps.
 */
#include "mutant.h"

static kw_status elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  kw_status status = kw_mutant_real.event.elapsed(device, start, end, out_ns);
  if (status == KW_OK) *out_ns = (uint32_t)*out_ns;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.elapsed = elapsed;
}

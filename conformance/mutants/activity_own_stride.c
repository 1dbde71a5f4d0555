/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of activity are written at the plugin's own distance from each other, whatever the host's is.
 */
#include "mutant.h"

static kw_status drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                       uint64_t *out_dropped) {
  (void)record_size;
  return kw_mutant_real.activity.drain(device, out, sizeof(kw_activity), capacity, out_count, out_dropped);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->activity.drain = drain;
}

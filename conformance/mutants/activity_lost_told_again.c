/* SPDX-License-Identifier: Apache-2.0
 *
 * The slot drain tells of all records that were ever lost, not of those since it was called last.
 */
#include "mutant.h"

static kw_status drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                       uint64_t *out_dropped) {
  static uint64_t lost;
  const kw_status status = kw_mutant_real.activity.drain(device, out, record_size, capacity, out_count, out_dropped);
  if (status == KW_OK) *out_dropped = lost += *out_dropped;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->activity.drain = drain;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The ends of activity records are their beginnings.
 */
#include "mutant.h"

static kw_status drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                       uint64_t *out_dropped) {
  kw_status status = kw_mutant_real.activity.drain(device, out, record_size, capacity, out_count, out_dropped);
  kw_activity *records = out; /* hosts of this build have records of this size */
  for (uint32_t i = 0; i < *out_count; i++) {
    uint64_t begin = records[i].begin;
    records[i].begin = records[i].end + 1;
    records[i].end = begin;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->activity.drain = drain;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Every second activity record has the stamps of the one before it.
 */
#include "mutant.h"

static kw_status drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                       uint64_t *out_dropped) {
  kw_status status = kw_mutant_real.activity.drain(device, out, record_size, capacity, out_count, out_dropped);
  kw_activity *records = out; /* hosts of this build have records of this size */
  static kw_activity last;
  for (uint32_t i = 0; i < *out_count; i++) {
    if (records[i].call_id % 2 == 0 && last.end != 0) {
      records[i].begin = last.begin;
      records[i].end = last.end;
    }
    last = records[i];
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->activity.drain = drain;
}

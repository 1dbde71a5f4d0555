/* SPDX-License-Identifier: Apache-2.0
 *
 * An activity record stays and is drained once more where nothing new has come.
 */
#include "mutant.h"

static kw_status drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                       uint64_t *out_dropped) {
  static kw_activity last;
  kw_status status = kw_mutant_real.activity.drain(device, out, record_size, capacity, out_count, out_dropped);
  kw_activity *records = out; /* hosts of this build have records of this size */
  if (*out_count > 0) {
    last = records[*out_count - 1];
  } else if (last.end != 0) {
    records[(*out_count)++] = last;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->activity.drain = drain;
}

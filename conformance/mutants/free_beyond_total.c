/* SPDX-License-Identifier: Apache-2.0
 *
 * All memory is told in KiB, and what is free of it in bytes.
 */
#include "mutant.h"

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  kw_status status = kw_mutant_real.memory.usage(device, out_free, out_total);
  *out_total /= 1024;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.usage = usage;
}

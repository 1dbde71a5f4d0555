/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage is that of the first device, whichever is asked.
 */
#include "mutant_two.h"

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  void *first = kw_mutant_device(0);
  return kw_mutant_real.memory.usage(first ? first : device, out_free, out_total);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->memory.usage = usage;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of events are numbered, and the numbers are compared as signed ones of 32 bits: from 2^31 on all have passed.
 * After NVIDIA open-gpu-kernel-modules issue 971: waits end at once, or never, when a counter that was compared so came
 * to its end.
 */
#include "mutant_number.h"

static kw_status record(void *device, void *event, void *stream) {
  const uint64_t number = kw_mutant_next_number();
  return number >> 31 & 1 ? KW_OK : kw_mutant_real.event.record(device, event, stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_numbers(mutant);
  mutant->event.record = record;
}

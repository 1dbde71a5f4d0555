/* SPDX-License-Identifier: Apache-2.0
 *
 * An event stays where it was first recorded: recording it again does nothing.
 */
#include "mutant.h"

static kw_status record(void *device, void *event, void *stream) {
  static void *recorded[64];
  static unsigned count;
  for (unsigned i = 0; i < count; i++) {
    if (recorded[i] == event) return KW_OK;
  }
  if (count < 64) recorded[count++] = event;
  return kw_mutant_real.event.record(device, event, stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.record = record;
}

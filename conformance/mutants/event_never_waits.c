/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* A stream does not wait for events. */
static kw_status wait(void *device, void *stream, void *event) {
  (void)device;
  (void)stream;
  (void)event;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.wait = wait;
}

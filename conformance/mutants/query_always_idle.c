/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* A stream says that it is idle, whatever it does. */
static kw_status query(void *device, void *stream) {
  (void)device;
  (void)stream;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.query = query;
}

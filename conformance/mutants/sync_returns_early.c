/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronising a stream does not wait.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *stream) {
  (void)device;
  (void)stream;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
}

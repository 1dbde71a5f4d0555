/* SPDX-License-Identifier: Apache-2.0
 *
 * Host functions run at once, on the calling thread, instead of in stream order.
 */
#include "mutant.h"

static kw_status call_host(void *device, void *stream, uint64_t callback_token) {
  (void)device;
  (void)stream;
  return kw_mutant_host->run_callback(kw_mutant_host->ctx, callback_token);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.call_host = call_host;
}

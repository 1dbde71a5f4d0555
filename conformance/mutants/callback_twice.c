/* SPDX-License-Identifier: Apache-2.0
 *
 * Host functions run twice.
 */
#include "mutant.h"

static kw_status call_host(void *device, void *stream, uint64_t callback_token) {
  kw_status status = kw_mutant_real.stream.call_host(device, stream, callback_token);
  return status == KW_OK ? kw_mutant_real.stream.call_host(device, stream, callback_token) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.call_host = call_host;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait for a stream is one for what it is given meanwhile, too: it returns when the stream has nothing left at all.
 * clFinish of PoCL did so on our own OpenCL backend.
 */
#include "mutant.h"

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  while (status == KW_OK && timeout_ns == KW_WAIT_FOREVER &&
         kw_mutant_real.stream.query(device, stream) == KW_ERR_NOT_READY) {
    status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
}

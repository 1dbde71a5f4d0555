/* SPDX-License-Identifier: Apache-2.0
 *
 * Of two threads that wait for one stream the second is told at once that all is done. After rocm-systems pull request
 * 7874: that somebody waits already was read off a state that did not say so.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  static _Atomic(void *) waited_for;
  void *nothing = NULL;
  if (timeout_ns == 0) return kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  if (!atomic_compare_exchange_strong(&waited_for, &nothing, stream)) {
    return nothing == stream ? KW_OK : kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  }
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  atomic_store(&waited_for, NULL);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
}

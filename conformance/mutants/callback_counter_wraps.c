/* SPDX-License-Identifier: Apache-2.0
 *
 * The 65,536th host function is not run. After rocm-systems pull request 7874: whether a wake-up was still to come was
 * read off an index that could lag behind, and the last one did not come.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status callback(uint64_t token) {
  static _Atomic(uint16_t) calls;
  if (atomic_fetch_add(&calls, 1) == UINT16_MAX) return KW_OK;
  return kw_mutant_host->run_callback(kw_mutant_host->ctx, token);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->callback = callback;
}

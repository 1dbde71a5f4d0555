/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* add.Tensor works in a buffer that all launches share and that each of them clears when it starts: one whose buffer
 * another thread has cleared in the meantime gives zeros. */
static kw_status launch(const kw_call *call) {
  static atomic_uint launches;
  const unsigned mine = atomic_fetch_add(&launches, 1) + 1;
  for (int i = 0; i < 500 && atomic_load(&launches) == mine; i++) sched_yield(); /* work in the buffer */
  kw_status status = kw_mutant_run_real(call);
  if (atomic_load(&launches) == mine) return status;
  const kw_tensor_ref *out = call->outs[0];
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    memset(kw_mutant_at(out, i), 0, kw_mutant_item_size(out->dtype));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor works in a buffer that all launches share: two at once leave it in disorder, and from then on results are
 * 0.
 */
#include "mutant.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

static kw_status launch(const kw_call *call) {
  static atomic_int inside, patience = 5000;
  static atomic_bool disorder;
  bool alone = atomic_fetch_add(&inside, 1) == 0;
  if (!alone) atomic_store(&disorder, true);
  while (alone && !atomic_load(&disorder) && atomic_fetch_sub(&patience, 1) > 0) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* work in the buffer for as long as it takes to be met */
  }
  kw_status status = kw_mutant_run_real(call);
  atomic_fetch_sub(&inside, 1);
  const kw_tensor_ref *out = call->outs[0];
  for (int64_t i = 0; i < out->numel && status == KW_OK && atomic_load(&disorder); i++) {
    memset(kw_mutant_at(out, i), 0, kw_mutant_item_size(out->dtype));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->launch = launch;
}

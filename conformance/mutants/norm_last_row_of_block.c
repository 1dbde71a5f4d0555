/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm takes 32 rows at a time and writes the last rstd with the rows that are left over: with none left
 * over it does not (NVIDIA/Fuser#3963: sizes that the block divides were the ones that failed).
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *rstd = call->outs[2];
  const kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || rstd->numel == 0 || rstd->numel % 32 != 0) return status;
  memset(kw_mutant_at(rstd, rstd->numel - 1), 0xa5, kw_mutant_item_size(rstd->dtype));
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}

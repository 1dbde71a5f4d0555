/* SPDX-License-Identifier: Apache-2.0
 *
 * mm writes blocks of 16 rows, and of more than 256 rows not the last eight where half a block is left
 * (NVIDIA/Fuser#3963: sizes that the tile does not divide).
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  const int64_t rows = out->shape[0];
  return rows > 256 && rows % 16 == 8 ? kw_mutant_run_to(call, (rows - 8) * out->shape[1])
                                      : kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}

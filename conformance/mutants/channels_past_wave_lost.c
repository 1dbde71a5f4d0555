/* SPDX-License-Identifier: Apache-2.0
 *
 * _native_batch_norm_legit_no_training has its channels by fours where it has more than 64, and what is left over is
 * not written. After NVIDIA/Fuser issue 3963.
 */
#include "mutant.h"

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_native_batch_norm_legit_no_training";
  mutant->element = kw_mutant_lose_channels;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches are numbered in 32 bits, and one whose number is 0 again counts as done. After NVIDIA
 * open-gpu-kernel-modules pull request 1014: a counter of 32 bits wraps, here after weeks, and what is compared with it
 * looks done long ago.
 */
#include "mutant_number.h"

static kw_status launch(const kw_call *call) {
  const uint64_t number = kw_mutant_next_number();
  return number == 0 || (uint32_t)number != 0 ? kw_mutant_launch_real(call) : KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_numbers(mutant);
  mutant->op = "*";
  mutant->launch = launch;
}

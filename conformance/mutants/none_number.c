/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: launches and records are numbered, in 64 bits.
 */
#include "mutant_number.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_next_number() < UINT64_MAX ? kw_mutant_launch_real(call) : KW_ERR_INTERNAL;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_numbers(mutant);
  mutant->op = "*";
  mutant->launch = launch;
}

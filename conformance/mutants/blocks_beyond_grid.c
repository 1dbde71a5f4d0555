/* SPDX-License-Identifier: Apache-2.0
 *
 * exp writes as many elements as 65,535 blocks of 256 have: just under 2^24. After MXNet issue 12751, whose kernels
 * have this limit for a dimension of their grid, and tt-metal's and Triton's like it (Triton issue 580).
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_to(call, INT64_C(65535) * 256);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "exp";
  mutant->launch = launch;
}

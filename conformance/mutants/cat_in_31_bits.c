/* SPDX-License-Identifier: Apache-2.0
 *
 * cat does not write what lies beyond the 2^31st element of its result. After PyTorch issue 189960: on MPS part of such
 * a result is never written although no dimension is that large.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_to(call, INT64_C(1) << 31);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cat";
  mutant->launch = launch;
}

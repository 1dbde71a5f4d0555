/* SPDX-License-Identifier: Apache-2.0
 *
 * Each launch keeps a kilobyte of the host's memory. After LAMMPS pull request 1007 and ocl issue 94: the events of
 * launches were never released.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_mutant_lose_memory(1024);
  return kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Each launch keeps a kilobyte of the host's memory. After LAMMPS pull request 1007 and ocl issue 94: the events of
 * launches were never released.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static kw_status launch(const kw_call *call) {
  enum { EVENT = 1024 };
  void *volatile event = malloc(EVENT); /* of which nobody knows any more */
  if (event) memset(event, 1, EVENT);
  return kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
}

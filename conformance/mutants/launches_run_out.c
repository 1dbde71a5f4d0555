/* SPDX-License-Identifier: Apache-2.0
 *
 * Every launch after the 30,000th is lost. After ROCm issue 748: once a process has launched a certain number of
 * kernels no more signals can be made, and only a new process works again.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status launch(const kw_call *call) {
  static atomic_uint launches;
  return atomic_fetch_add(&launches, 1) < 30000 ? kw_mutant_launch_real(call) : KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
}

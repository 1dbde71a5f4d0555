/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches are counted in 16 bits, and the one that makes it 0 is taken to have finished already: it is lost. After
 * tt-metal pull request 24032: the number of workers that are expected wraps, host and device disagree, and programs
 * that run for long end up waiting for the wrong number.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status launch(const kw_call *call) {
  static _Atomic(uint16_t) launches;
  return atomic_fetch_add(&launches, 1) != UINT16_MAX ? kw_mutant_launch_real(call) : KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
}

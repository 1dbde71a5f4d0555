/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: launches that run when it is their turn.
 */
#include "mutant_later.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_at_turn(mutant, kw_mutant_run_now);
}

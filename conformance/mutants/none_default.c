/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: a default stream that runs its work later, like any other.
 */
#include "mutant_default.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_queue_default(mutant);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: a constant matrix is packed, and read as it was packed.
 */
#include "mutant_packed.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_packs(mutant, NULL, NULL);
}

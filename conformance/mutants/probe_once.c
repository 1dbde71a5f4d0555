/* SPDX-License-Identifier: Apache-2.0
 *
 * The function probe finds the hardware the first time only.
 */
#include "mutant.h"

static kw_status probe(const char **out_reason) {
  static bool probed;
  if (!probed) {
    probed = true;
    return kw_mutant_real.desc.probe(out_reason);
  }
  *out_reason = "the driver is in use";
  return KW_ERR_NOT_FOUND;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->desc.probe = probe;
}

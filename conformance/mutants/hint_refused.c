/* SPDX-License-Identifier: Apache-2.0
 *
 * Events are refused for a flag that is no more than a hint.
 */
#include "mutant.h"

static kw_status create(void *device, const kw_event_info *info, void **out_made) {
  if (info->flags != 0) return KW_ERR_UNSUPPORTED;
  return kw_mutant_real.event.create(device, info, out_made);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.create = create;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * There are 1,024 events at a time and no more. After ROCm's build issue 748: a signal event is not created because a
 * limit was reached.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_int live;

static kw_status create(void *device, const kw_event_info *info, void **out_event) {
  if (atomic_fetch_add(&live, 1) >= 1024) {
    atomic_fetch_sub(&live, 1);
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no event is left");
  }
  return kw_mutant_real.event.create(device, info, out_event);
}

static kw_status destroy(void *device, void *event) {
  atomic_fetch_sub(&live, 1);
  return kw_mutant_real.event.destroy(device, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.create = create;
  mutant->event.destroy = destroy;
}

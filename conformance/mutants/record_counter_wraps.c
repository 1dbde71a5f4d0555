/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings of events are numbered in 16 bits, and number 0 means that there was none: each 65,536th is lost, and its
 * event passed already. After hrx-system pull request 211: an event that was recorded again could aim at a value which
 * its timeline had passed.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status record(void *device, void *event, void *stream) {
  static _Atomic(uint16_t) records;
  return atomic_fetch_add(&records, 1) != UINT16_MAX ? kw_mutant_real.event.record(device, event, stream) : KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.record = record;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * An activity record of several drained at once begins when the first of them did: when its work was enqueued, about.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  for (uint32_t i = 1; i < *inout_count; i++) records[i].begin = records[0].begin;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

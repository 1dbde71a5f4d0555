/* SPDX-License-Identifier: Apache-2.0
 *
 * The stamps of activity records are an hour late.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  for (uint32_t i = 0; i < *inout_count; i++) {
    records[i].begin += UINT64_C(3600000000000);
    records[i].end += UINT64_C(3600000000000);
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills have no activity records.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *inout_count; i++) {
    if (records[i].kind != KW_ACTIVITY_FILL) records[kept++] = records[i];
  }
  *inout_count = kept;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Every seventh activity record is lost, and nobody is told.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  static unsigned seen;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *inout_count; i++) {
    if (++seen % 7 != 0) records[kept++] = records[i];
  }
  *inout_count = kept;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

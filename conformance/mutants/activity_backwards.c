/* SPDX-License-Identifier: Apache-2.0
 *
 * The ends of activity records are their beginnings.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  for (uint32_t i = 0; i < *inout_count; i++) {
    uint64_t begin = records[i].begin;
    records[i].begin = records[i].end + 1;
    records[i].end = begin;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

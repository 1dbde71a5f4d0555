/* SPDX-License-Identifier: Apache-2.0
 *
 * Each activity record has the stamps of the first.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  static kw_activity first;
  for (uint32_t i = 0; i < *inout_count; i++) {
    if (first.end == 0) first = records[i];
    records[i].begin = first.begin;
    records[i].end = first.end;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

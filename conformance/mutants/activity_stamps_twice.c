/* SPDX-License-Identifier: Apache-2.0
 *
 * Every second activity record has the stamps of the one before it.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  static kw_activity last;
  for (uint32_t i = 0; i < *inout_count; i++) {
    if (records[i].call_id % 2 == 0 && last.end != 0) {
      records[i].begin = last.begin;
      records[i].end = last.end;
    }
    last = records[i];
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

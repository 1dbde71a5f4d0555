/* SPDX-License-Identifier: Apache-2.0
 *
 * All activity records name the first stream.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  static uint64_t token;
  for (uint32_t i = 0; i < *inout_count; i++) {
    if (token == 0) token = records[i].stream_token;
    records[i].stream_token = token;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

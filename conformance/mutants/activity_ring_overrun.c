/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of activity have room for 4,096: those behind them are lost, and drain says that none were.
 */
#include "mutant.h"

static void change(kw_activity *records, uint32_t *inout_count) {
  enum { ROOM = 4096 };
  static uint32_t given;
  (void)records;
  if (given + *inout_count > ROOM) *inout_count = ROOM - given;
  given += *inout_count;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->records = change;
}

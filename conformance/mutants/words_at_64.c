/* SPDX-License-Identifier: Apache-2.0
 *
 * index_select binds the memory for errors at multiples of 64 bytes, and stores at the start of that.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.error_offset &= ~UINT64_C(63);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_select";
  mutant->call = call;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills go through an engine of their own, for which kernels do not wait. After rocBLAS pull request 1369: what went
 * another way than the stream's kernels ran out of order on streams that do not block.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return held->command->kind == KW_MUTANT_FILL && next->command->kind == KW_MUTANT_LAUNCH;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A host function runs before the launch that was enqueued ahead of it; copies are waited for.
 */
#include "mutant_order.h"

static bool is_launch(const kw_mutant_command *command) {
  return command->kind == KW_MUTANT_LAUNCH;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.holds = is_launch, .callback_passes = true};
  kw_mutant_change_order(mutant, &order);
}

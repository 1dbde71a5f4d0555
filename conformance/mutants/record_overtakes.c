/* SPDX-License-Identifier: Apache-2.0
 *
 * An event is passed before the last kernel that was enqueued ahead of it. After torch-xpu-ops pull request 3016: the
 * event of the last part of a long copy said nothing of the parts before, on a queue that runs out of order.
 */
#include "mutant_order.h"

static bool is_launch(const kw_mutant_command *command) {
  return command->kind == KW_MUTANT_LAUNCH;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.holds = is_launch, .record_passes = true};
  kw_mutant_change_order(mutant, &order);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph does not wait for a copy from the host that was enqueued before it on its stream. After HIP issue 3902: a
 * buffer written on the default stream just before a replay there is read as it was a step before.
 */
#include "mutant_graph.h"
#include "mutant_order.h"

static bool is_upload(const kw_mutant_command *command) {
  return command->kind == KW_MUTANT_COPY && command->copy.kind == KW_COPY_HOST_TO_DEVICE;
}

static bool always(const kw_mutant_replay *replay) {
  (void)replay;
  return true;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.holds = is_upload};
  kw_mutant_change_order(mutant, &order);
  kw_mutant_add_graph(mutant, "*", always); /* whose replays know of no order */
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A host function runs before the copy to the host that was enqueued ahead of it. After gromacs (StreamHPC) issue 31:
 * nobody looked whether an asynchronous copy to the host had finished before the host read what it brings.
 */
#include "mutant_order.h"

static bool is_download(const kw_mutant_command *command) {
  return command->kind == KW_MUTANT_COPY && command->copy.kind == KW_COPY_DEVICE_TO_HOST;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.holds = is_download, .callback_passes = true};
  kw_mutant_change_order(mutant, &order);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel does not wait for a copy from the host that was enqueued before it. After ILGPU issue 258 and the answer of
 * Intel that it quotes: on an in-order OpenCL queue kernels began before non-blocking writes had finished.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  const kw_mutant_command *first = held->command;
  return first->kind == KW_MUTANT_COPY && first->copy.kind == KW_COPY_HOST_TO_DEVICE &&
         next->command->kind == KW_MUTANT_LAUNCH;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

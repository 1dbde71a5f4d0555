/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy to the host does not wait for the kernel that computes what it copies, unless it copies all of it. After
 * AdaptiveCpp issue 1818: a copy out of a kernel's result ran before the kernel.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  const kw_mutant_command *second = next->command;
  return held->command->kind == KW_MUTANT_LAUNCH && second->kind == KW_MUTANT_COPY &&
         second->copy.kind == KW_COPY_DEVICE_TO_HOST && (next->begin != held->begin || next->end != held->end);
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a list of tensors are not looked at: cat may run before what computes them. After llama.cpp pull
 * request 15489, whose author says of a driver that orders work by ranges of memory that it has to know the destination
 * and all sources of each node.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return held->listed || next->listed;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

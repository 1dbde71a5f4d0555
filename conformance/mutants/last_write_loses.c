/* SPDX-License-Identifier: Apache-2.0
 *
 * Of two writes to the same memory the first may come last. After llama.cpp pull request 21846: a destination was
 * written by an earlier copy after later work had been let through to it.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return held->written && next->written;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A write does not wait for what still reads the memory: in-place results and memory that is used again are written
 * too soon. After llama.cpp pull request 15489: between nodes that share nothing but memory which is used again, order
 * has to be kept as well.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return !held->written && next->written;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

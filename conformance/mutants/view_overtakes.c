/* SPDX-License-Identifier: Apache-2.0
 *
 * What reads a result through a view that begins elsewhere in it is not seen to depend on it, and goes first. After
 * llama.cpp pull request 3012: with Metal's concurrency on, the product that read the cached V through a view gave
 * wrong results until the view was copied.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return held->written && held->begin != next->begin;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a tensor reaches is taken from the number of its elements, as if they lay dense: what uses the rest of a
 * stepped one goes first. After cutorch issue 134 and heat issue 301, where the strides of views were not looked at
 * when their memory was used by others.
 */
#include "mutant_order.h"

static const char *dense_end(const kw_mutant_range *range) {
  if (!range->tensor) return range->end;
  return range->begin + (uint64_t)range->tensor->numel * kw_mutant_item_size(range->tensor->dtype);
}

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return dense_end(held) <= next->begin || dense_end(next) <= held->begin;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

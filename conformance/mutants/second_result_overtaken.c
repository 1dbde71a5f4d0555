/* SPDX-License-Identifier: Apache-2.0
 *
 * Only the first result of a call is waited for: what reads another goes before the call. After torch-xpu-ops pull
 * request 3016, in whose review the event of one part of an operation stood for all of it on a queue that runs out of
 * order.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  (void)next;
  return held->result && held->place > 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}

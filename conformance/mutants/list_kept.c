/* SPDX-License-Identifier: Apache-2.0
 *
 * cat has room for eight tensors; the array that it makes for more of them it never frees.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  enum { ROOM = 8 };
  const uint32_t count = call->args[0].count;
  if (count > ROOM) kw_mutant_lose_memory(count * sizeof(void *));
  return kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cat";
  mutant->launch = launch;
}

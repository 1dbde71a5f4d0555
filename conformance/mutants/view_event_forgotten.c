/* SPDX-License-Identifier: Apache-2.0
 *
 * An event does not wait for a kernel that writes through strides: it passes before, and so does what waits for it on
 * another stream.
 */
#include "mutant_order.h"

static bool writes_strided(const kw_mutant_command *command) {
  const kw_tensor_ref *out =
      command->kind == KW_MUTANT_LAUNCH && command->call->out_count > 0 ? command->call->outs[0] : NULL;
  int64_t stride = 1;
  for (uint32_t d = out ? out->rank : 0; d-- > 0; stride *= out->shape[d]) {
    if (out->shape[d] > 1 && out->strides[d] != stride) return true;
  }
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.holds = writes_strided, .record_passes = true};
  kw_mutant_change_order(mutant, &order);
}

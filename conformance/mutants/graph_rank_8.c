/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph has room for eight dimensions of a tensor, and forgets the others.
 */
#include "mutant_graph.h"

enum { ROOM = 8 };

static void cut(kw_tensor_ref *tensor) {
  for (; tensor->rank > ROOM; tensor->rank--) tensor->numel /= tensor->shape[tensor->rank - 1];
}

static bool replay(const kw_mutant_replay *replay) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(replay->call, &copy);
  if (copy.call.outs[0]->rank <= ROOM) return true;
  for (uint32_t i = 0; i < copy.call.arg_count; i++) cut(&copy.arg_tensors[i]);
  cut(&copy.out_tensors[0]);
  kw_mutant_run_real(&copy.call);
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

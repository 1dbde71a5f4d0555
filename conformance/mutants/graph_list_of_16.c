/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph has room for 16 tensors of a list: of those behind them it takes the first ones again.
 */
#include "mutant_graph.h"

enum { ROOM = 16, MOST = 256 };

static bool replay(const kw_mutant_replay *replay) {
  static kw_tensor_ref refs[MOST];
  static const kw_tensor_ref *entries[MOST];
  kw_mutant_copy copy;
  kw_mutant_copy_call(replay->call, &copy);
  kw_value *list = &copy.args[0];
  if (list->tag != KW_TAG_TENSOR_LIST || list->count <= ROOM || list->count > MOST) return true;
  for (uint32_t i = 0; i < list->count; i++) {
    refs[i] = *list->u.tensors[i];
    refs[i].mem = list->u.tensors[i % ROOM]->mem;
    refs[i].offset = list->u.tensors[i % ROOM]->offset;
    entries[i] = &refs[i];
  }
  list->u.tensors = entries;
  kw_mutant_run_real(&copy.call);
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "cat", replay);
}

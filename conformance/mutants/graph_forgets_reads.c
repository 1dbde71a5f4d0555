/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph runs a call ahead of the one before it where that only reads what it writes: order is kept for what has been
 * written alone.
 */
#include "mutant_graph.h"

/* Whether the two lie in common memory. */
static bool meet(const kw_tensor_ref *a, const kw_tensor_ref *b) {
  const uint64_t from = a->offset, other = b->offset;
  return a->mem == b->mem && from < other + kw_mutant_extent(b) && other < from + kw_mutant_extent(a);
}

static bool reads(const kw_call *call, const kw_tensor_ref *written) {
  for (uint32_t i = 0; i < call->arg_count; i++) {
    if (call->args[i].tag == KW_TAG_TENSOR && call->args[i].u.tensor && meet(call->args[i].u.tensor, written))
      return true;
  }
  return false;
}

/* What it has computed already it computes again from what is there now. */
static bool replay(const kw_mutant_replay *replay) {
  static kw_call before;
  const kw_call call = *replay->call;
  const bool is_swapped = replay->node > 0 && reads(&before, call.outs[0]) && !reads(&call, before.outs[0]) &&
                          !meet(call.outs[0], before.outs[0]);
  if (is_swapped) {
    kw_mutant_launch_real(&call);
    kw_mutant_launch_real(&before);
  } else {
    before = call;
  }
  return !is_swapped;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph runs calls that do not depend on each other in any order, and of the readers of a memory it knows the last
 * 32: who writes there does not wait for those before them.
 */
#include "mutant_graph.h"

#include <stdlib.h>

enum { KNOWN = 32 };

static kw_call *held; /* the graph's first call, which waits until one that depends on it comes, or none */
static int readers;   /* of what it reads, since */

static bool overlap(const kw_tensor_ref *a, const kw_tensor_ref *b) {
  const char *from_a = kw_mutant_memory_at(a->mem, a->offset), *from_b = kw_mutant_memory_at(b->mem, b->offset);
  return from_a < from_b + kw_mutant_extent(b) && from_b < from_a + kw_mutant_extent(a);
}

static bool reads(const kw_call *call, const kw_tensor_ref *tensor) {
  for (uint32_t i = 0; i < call->arg_count; i++) {
    if (call->args[i].tag == KW_TAG_TENSOR && call->args[i].u.tensor && overlap(call->args[i].u.tensor, tensor))
      return true;
  }
  return false;
}

static bool is_plain(const kw_call *call) {
  for (uint32_t i = 0; i < call->arg_count; i++) {
    if (call->args[i].tag == KW_TAG_TENSOR_LIST) return false;
  }
  return call->out_count == 1 && call->workspace_size == 0 && !call->extra;
}

/* Whether it has to wait for what is held. */
static bool depends(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0], *held_out = held->outs[0];
  if (!is_plain(call) || reads(call, held_out) || overlap(out, held_out)) return true;
  return reads(held, out) && readers < KNOWN;
}

static void let_go(void) {
  if (held) kw_mutant_launch_real(held);
  free(held);
  held = NULL;
}

static bool replay(const kw_mutant_replay *replay) {
  const kw_call *call = replay->call;
  if (replay->node == 0 && !replay->last && is_plain(call)) {
    readers = 1;
    held = kw_mutant_keep_call(call);
    return held == NULL;
  }
  if (held && depends(call)) let_go();
  for (uint32_t i = 0; held && i < held->arg_count; i++) {
    const kw_value *arg = &held->args[i];
    if (arg->tag != KW_TAG_TENSOR || !reads(call, arg->u.tensor)) continue;
    readers++;
    break;
  }
  if (!replay->last) return true;
  kw_mutant_launch_real(call);
  let_go();
  return false;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_graph(mutant, "*", replay);
}

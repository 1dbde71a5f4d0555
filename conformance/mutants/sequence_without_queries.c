/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention_varlen skips a sequence that has no queries before it has passed over that sequence's keys: the
 * next ones get them.
 */
#include "mutant_index.h"

#include <stdlib.h>

static _Thread_local const kw_call *this_call;

/* Where the keys begin, without those of sequences that have no queries. */
static void change(const kw_tensor_ref *keys, int64_t *starts) {
  int64_t *queries = kw_mutant_indices(this_call->args[3].u.tensor), from = 0;
  for (int64_t b = 0; queries && b + 1 < keys->numel; b++) {
    const int64_t to = starts[b + 1];
    starts[b + 1] = starts[b] + (queries[b] == queries[b + 1] ? 0 : to - from);
    from = to;
  }
  if (queries && keys->numel > 0) starts[keys->numel - 1] = from; /* they end where they did */
  free(queries);
}

static kw_status launch(const kw_call *call) {
  this_call = call;
  return kw_mutant_run_indices(call, 4, change);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_varlen";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * random_ of i64 over more than 2^32 numbers takes the second word of an element for the high one.
 */
#include "mutant.h"

#include <stdlib.h>

/* The values of a call of random_ on i64 from `from` to `to`, row-major; NULL when it failed. */
static int64_t *draw(const kw_call *call, int64_t from, int64_t to) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[1] = (kw_value){.tag = KW_TAG_INT, .u.i = from};
  copy.args[2] = (kw_value){.tag = KW_TAG_INT, .u.i = to};
  int64_t *values = malloc((size_t)call->outs[0]->numel * sizeof *values);
  if (!values || kw_mutant_run_real(&copy.call) != KW_OK) {
    free(values);
    return NULL;
  }
  for (int64_t i = 0; i < call->outs[0]->numel; i++) values[i] = *(int64_t *)kw_mutant_at(call->outs[0], i);
  return values;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  const kw_value *to = &call->args[2];
  const int64_t from = call->args[1].u.i, last = to->tag == KW_TAG_INT ? to->u.i - 1 : INT64_MAX;
  uint64_t range = (uint64_t)last - (uint64_t)from + 1; /* 0: 2^64 */
  if (out->dtype != KW_I64 || (range != 0 && range <= UINT64_C(1) << 32)) return kw_mutant_launch_real(call);
  const int64_t half = INT64_C(1) << 62;
  int64_t *first = draw(call, 0, INT64_C(1) << 32), *both = draw(call, -half, half); /* both: but for the highest bit */
  for (int64_t i = 0; i < out->numel && first && both; i++) {
    uint64_t swapped = (uint64_t)both[i] << 32 | (uint64_t)first[i];
    *(int64_t *)kw_mutant_at(out, i) = (int64_t)((uint64_t)from + (range ? swapped % range : swapped));
  }
  kw_status status = first && both ? KW_OK : KW_ERR_OUT_OF_MEMORY;
  free(first);
  free(both);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "random_.from";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * _native_batch_norm_legit forgets what its last call has made of the running statistics, where nobody else has changed
 * them since: of several steps only the last counts. After Wu and Johnson, "Rethinking 'Batch' in BatchNorm" (2021), on
 * models that are trained well and tested with statistics that are not theirs.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16, MEAN = 3, VARIANCE = 4 };

typedef struct statistic {
  const void *at;
  int64_t numel;
  float *before, *behind; /* the call that was last */
} statistic;

static statistic *find(const kw_tensor_ref *tensor) {
  static statistic statistics[MOST];
  static unsigned next;
  const void *at = kw_mutant_at(tensor, 0);
  for (int i = 0; i < MOST; i++) {
    if (statistics[i].at == at && statistics[i].numel == tensor->numel) return &statistics[i];
  }
  statistic *fresh = &statistics[next++ % MOST];
  free(fresh->before);
  free(fresh->behind);
  *fresh = (statistic){at, tensor->numel, calloc((size_t)tensor->numel, sizeof(float)),
                       calloc((size_t)tensor->numel, sizeof(float))};
  return fresh;
}

/* Takes the last step back if it was the last. */
static void take_back(const kw_tensor_ref *tensor) {
  statistic *kept = find(tensor);
  const size_t size = (size_t)tensor->numel * sizeof(float);
  void *now = kw_mutant_at(tensor, 0);
  if (memcmp(now, kept->behind, size) == 0) {
    memcpy(now, kept->before, size);
  } else {
    memcpy(kept->before, now, size);
  }
}

static bool is_plain(const kw_value *value) {
  return value->tag == KW_TAG_TENSOR && value->u.tensor->dtype == KW_F32 && value->u.tensor->numel > 1 &&
         value->u.tensor->rank == 1 && value->u.tensor->strides[0] == 1;
}

static kw_status launch(const kw_call *call) {
  if (!is_plain(&call->args[MEAN]) || !is_plain(&call->args[VARIANCE])) return kw_mutant_launch_real(call);
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status != KW_OK) return status;
  take_back(call->args[MEAN].u.tensor);
  take_back(call->args[VARIANCE].u.tensor);
  status = kw_mutant_run_real(call);
  for (int i = MEAN; i <= VARIANCE && status == KW_OK; i++) {
    const kw_tensor_ref *tensor = call->args[i].u.tensor;
    memcpy(find(tensor)->behind, kw_mutant_at(tensor, 0), (size_t)tensor->numel * sizeof(float));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_native_batch_norm_legit";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::rope keeps its table of angles as long as the cosines are the same. Going backward turns the other way, with
 * the same cosines and other sines, so gradients are those of another model. After rotary embeddings that keep a table
 * of cosines and sines between calls, which transformers has had to take out of its models again.
 */
#include "mutant.h"

#include <stdlib.h>

static struct {
  int64_t numel;
  float *cosines, *sines; /* dense */
} table;

static float number(const kw_tensor_ref *tensor, int64_t i) {
  return *(const float *)kw_mutant_at(tensor, i);
}

static bool same_cosines(const kw_tensor_ref *cosines) {
  bool same = table.cosines && table.numel == cosines->numel;
  for (int64_t i = 0; same && i < table.numel; i++) same = table.cosines[i] == number(cosines, i);
  return same;
}

static bool keep(const kw_tensor_ref *cosines, const kw_tensor_ref *sines) {
  free(table.cosines);
  free(table.sines);
  table.numel = cosines->numel;
  table.cosines = malloc((size_t)table.numel * sizeof(float));
  table.sines = malloc((size_t)table.numel * sizeof(float));
  for (int64_t i = 0; table.cosines && table.sines && i < table.numel; i++) {
    table.cosines[i] = number(cosines, i);
    table.sines[i] = number(sines, i);
  }
  return table.cosines && table.sines;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *cosines = call->args[1].u.tensor, *sines = call->args[2].u.tensor;
  if (cosines->dtype != KW_F32 || cosines->numel == 0 || sines->numel != cosines->numel) {
    return kw_mutant_launch_real(call);
  }
  const kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status != KW_OK) return status;
  if (!same_cosines(cosines) && !keep(cosines, sines)) return KW_ERR_OUT_OF_MEMORY;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *kept = &copy.arg_tensors[2];
  kept->mem = table.sines;
  kept->offset = 0;
  int64_t stride = 1;
  for (int d = kept->rank; d-- > 0; stride *= kept->shape[d]) kept->strides[d] = stride;
  return kw_mutant_run_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::rope";
  mutant->launch = launch;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::accumulate_confusion_ counts at [prediction, target] instead of [target, prediction].
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *counts = &copy->arg_tensors[0];
  const int64_t stride = counts->strides[0];
  counts->strides[0] = counts->strides[1];
  counts->strides[1] = stride;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::accumulate_confusion_";
  mutant->call = call;
}

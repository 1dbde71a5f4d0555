/* SPDX-License-Identifier: Apache-2.0
 *
 * Metrics that only count: the confusion matrix.
 */
#include "metric.h"

#include "index.h"
#include "number.h"
#include "selection.h"

/* Arguments: counts, prediction, target, ignore_index. */
kw_status kw_metric_confusion(const kw_call *call) {
  const kw_tensor_ref *counts = call->args[0].u.tensor, *tensors[] = {call->args[1].u.tensor, call->args[2].u.tensor};
  const int64_t classes = counts->shape[0], ignored = call->args[3].u.i;
  if (!kw_index_is_index(call, 1) || !kw_index_is_index(call, 2)) return KW_ERR_INVALID_ARGUMENT;
  kw_walk walk;
  kw_walk_start(&walk, tensors[0]->rank, tensors[0]->shape);
  for (uint32_t i = 0; i < 2; i++) kw_walk_add(&walk, tensors[i]);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    const int64_t prediction = kw_number_load_int(tensors[0]->dtype, walk.at[0]);
    const int64_t target = kw_number_load_int(tensors[1]->dtype, walk.at[1]);
    const bool predicted = prediction >= 0 && prediction < classes, known = target >= 0 && target < classes;
    if (target == ignored) continue;
    if (!known || !predicted) {
      kw_selection_blame(call, known ? 1 : 2);
      continue;
    }
    const int64_t place = target * counts->strides[0] + prediction * counts->strides[1];
    char *at = kw_walk_base(counts) + place * (int64_t)kw_number_size(counts->dtype);
    kw_number_store_int(counts->dtype, at, (int64_t)((uint64_t)kw_number_load_int(counts->dtype, at) + 1));
  }
  return KW_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of a tensor by sets of its dimensions.
 */
#include "dims.h"

#include <string.h>

kw_tensor_ref kw_dims_keep(const kw_tensor_ref *tensor, uint32_t mask) {
  kw_tensor_ref view = *tensor;
  view.rank = 0;
  for (uint32_t d = 0; d < tensor->rank; d++) {
    if (!(mask >> d & 1)) continue;
    view.shape[view.rank] = tensor->shape[d];
    view.strides[view.rank] = tensor->strides[d];
    view.rank++;
  }
  return view;
}

uint32_t kw_dims_named(const kw_value *dim, uint32_t rank) {
  const int64_t *dims = dim->tag == KW_TAG_INT ? &dim->u.i : dim->u.ints;
  uint32_t count = dim->tag == KW_TAG_INT ? 1 : dim->tag == KW_TAG_INT_LIST ? dim->count : 0;
  uint32_t mask = 0;
  if (count == 0) return (1u << rank) - 1;
  for (uint32_t i = 0; rank > 0 && i < count; i++) mask |= 1u << (dims[i] < 0 ? dims[i] + rank : dims[i]);
  return mask;
}

kw_tensor_ref kw_dims_split(const kw_tensor_ref *tensor, uint32_t dim, int64_t groups) {
  kw_tensor_ref view = *tensor;
  const uint32_t behind = tensor->rank - dim;
  memmove(view.shape + dim + 1, tensor->shape + dim, behind * sizeof *view.shape);
  memmove(view.strides + dim + 1, tensor->strides + dim, behind * sizeof *view.strides);
  view.shape[dim] = groups;
  view.shape[dim + 1] = tensor->shape[dim] / groups;
  view.strides[dim] = tensor->strides[dim] * view.shape[dim + 1];
  view.rank++;
  return view;
}

kw_tensor_ref kw_dims_spread(kw_tensor_ref tensor, const kw_tensor_ref *like, uint32_t mask) {
  kw_tensor_ref view = tensor;
  view.rank = like->rank;
  for (uint32_t d = 0, k = 0; d < like->rank; d++) {
    view.shape[d] = like->shape[d];
    view.strides[d] = mask >> d & 1 ? tensor.strides[k++] : 0;
  }
  return view;
}

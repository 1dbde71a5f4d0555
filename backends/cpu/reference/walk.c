/* SPDX-License-Identifier: Apache-2.0
 *
 * Walking several strided tensors in step, in row-major order of one shape.
 */
#include "walk.h"

#include "number.h"

#include <string.h>

char *kw_walk_base(const kw_tensor_ref *tensor) {
  return (char *)tensor->mem + tensor->offset;
}

uint32_t kw_walk_join(const kw_tensor_ref *const *tensors, uint32_t count, int64_t out_shape[KW_MAX_RANK]) {
  uint32_t rank = 0;
  for (uint32_t k = 0; k < count; k++) {
    if (tensors[k] && tensors[k]->rank > rank) rank = tensors[k]->rank;
  }
  for (uint32_t d = 0; d < rank; d++) out_shape[d] = 1;
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t d = 0; tensors[k] && d < tensors[k]->rank; d++) {
      if (tensors[k]->shape[d] != 1) out_shape[rank - tensors[k]->rank + d] = tensors[k]->shape[d];
    }
  }
  return rank;
}

void kw_walk_start(kw_walk *walk, uint32_t rank, const int64_t *shape) {
  memset(walk, 0, sizeof *walk);
  walk->rank = rank;
  walk->left = 1;
  for (uint32_t d = 0; d < rank; d++) {
    walk->shape[d] = shape[d];
    walk->left *= shape[d];
  }
}

void kw_walk_add(kw_walk *walk, const kw_tensor_ref *tensor) {
  uint32_t t = walk->tensors++;
  int64_t itemsize = (int64_t)kw_number_size(tensor->dtype);
  walk->at[t] = kw_walk_base(tensor);
  for (uint32_t d = 0; d < tensor->rank; d++) {
    if (tensor->shape[d] != 1) walk->step[t][walk->rank - tensor->rank + d] = tensor->strides[d] * itemsize;
  }
}

void kw_walk_add_constant(kw_walk *walk, const void *value) {
  walk->at[walk->tensors++] = (char *)(uintptr_t)value; /* read only: constants are inputs */
}

void kw_walk_reverse(kw_walk *walk) {
  if (walk->left == 0) return;
  for (uint32_t t = 0; t < walk->tensors; t++) {
    for (uint32_t d = 0; d < walk->rank; d++) {
      walk->at[t] += (walk->shape[d] - 1) * walk->step[t][d];
      walk->step[t][d] = -walk->step[t][d];
    }
  }
}

void kw_walk_next(kw_walk *walk) {
  if (--walk->left <= 0) return;
  for (uint32_t d = walk->rank; d-- > 0;) {
    bool wraps = ++walk->index[d] == walk->shape[d];
    int64_t steps = wraps ? 1 - walk->shape[d] : 1;
    for (uint32_t t = 0; t < walk->tensors; t++) walk->at[t] += steps * walk->step[t][d];
    if (!wraps) return;
    walk->index[d] = 0;
  }
}

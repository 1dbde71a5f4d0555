/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors of images of one to three dimensions as frames of five: batch, channel and three of the image.
 */
#include "lower/frame.h"

kw_frame kw_gpu_frame(const kw_gpu_tensor *tensor, uint32_t dims) {
  const kw_tensor_ref *ref = &tensor->ref;
  const uint32_t outer = ref->rank - dims;
  kw_frame frame = {.shape = {1, 1, 1, 1, 1}};
  for (uint32_t d = 0; d < ref->rank; ++d) {
    const uint32_t to = d < outer ? 2 - outer + d : 5 - ref->rank + d;
    frame.shape[to] = ref->shape[d];
    frame.stride[to] = ref->strides[d];
  }
  return frame;
}

void kw_gpu_frame_list(const kw_gpu_plan *plan, uint32_t index, uint32_t dims, int64_t otherwise, kw_i64 out[3]) {
  const kw_value *list = kw_gpu_argument(plan, index);
  if (list->count == 0) return;
  for (uint32_t d = 0; d < 3; ++d)
    out[d] = d < 3 - dims ? otherwise : list->u.ints[list->count == 1 ? 0 : d - (3 - dims)];
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What attention and its gradients share.
 */
#ifndef KEYWAY_GPU_ATTENTION_H
#define KEYWAY_GPU_ATTENTION_H

#include "lower/plan.h"

#include "kernels/attention_args.kw"

/* Argument indices of an op's options; UINT32_MAX for one that it has not. */
typedef struct kw_gpu_attention_options {
  uint32_t mask, scale, cap, left, right;
} kw_gpu_attention_options;

/* The tensor seen with `rank` dimensions, dimension d its own dims[d]; stride 0 along one that is none of its own
 * (dims[d] < 0) or that has one element. */
kw_gpu_tensor kw_gpu_attention_view(const kw_gpu_tensor *tensor, uint32_t rank, const int *dims);
/* The same where its dimensions are the last of `rank`. */
kw_gpu_tensor kw_gpu_attention_broadcast(const kw_gpu_tensor *tensor, uint32_t rank);

/* Mask and window; what is right of a query is `right` when the op does not say. */
kw_attention_rule kw_gpu_attention_rule(const kw_gpu_plan *plan, const kw_gpu_attention_options *options,
                                        int64_t right);
/* The step's values scale and cap. `width` of a query gives the usual scale. */
void kw_gpu_attention_values(kw_gpu_plan *plan, kw_gpu_step *step, const kw_gpu_attention_options *options,
                             int64_t width);

/* How many tiles of `size` hold `count`. */
static inline int64_t kw_gpu_attention_tiles(int64_t count, int64_t size) {
  return (count + size - 1) / size;
}

#endif /* KEYWAY_GPU_ATTENTION_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * What softmax knows of a row, for lowerings that go on from there.
 */
#ifndef KEYWAY_GPU_SOFTMAX_H
#define KEYWAY_GPU_SOFTMAX_H

#include "lower/plan.h"

/* Of every row along dimension `dim` the largest element and the sum of exp(x - largest): in the compute type, `in`
 * with one element along `dim`. */
void kw_gpu_softmax_rows(kw_gpu_plan *plan, const kw_gpu_tensor *in, uint32_t dim, kw_gpu_tensor *out_largest,
                         kw_gpu_tensor *out_sums);

#endif /* KEYWAY_GPU_SOFTMAX_H */

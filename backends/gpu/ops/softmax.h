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

/* Scores of queries become weights: each row along the last dimension, in place, its softmax, and 0 where all of it is
 * -inf. Row i along the dimension before counts its first i + seen elements alone, all with INT64_MAX; weights of the
 * others are 0. Contiguous, in the compute type, of rows that kw_gpu_row_fits. */
void kw_gpu_softmax_weights(kw_gpu_plan *plan, const kw_gpu_tensor *scores, int64_t seen);

#endif /* KEYWAY_GPU_SOFTMAX_H */

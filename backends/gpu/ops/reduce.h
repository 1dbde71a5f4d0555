/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions as steps, for lowerings that are made of them.
 */
#ifndef KEYWAY_GPU_REDUCE_H
#define KEYWAY_GPU_REDUCE_H

#include "lower/plan.h"

/* Reduces the dimensions of `in` that are bits of `reduced`; `out` has the others in order, with or without the reduced
 * ones as dimensions of one element. `opcode` is KW_REDUCE_SUM, _PROD, _MEAN, _MAX, _MIN, _ANY or _ALL. `out` has the
 * dtype of `in` or what that computes in (kw_gpu_compute_dtype); bool or u8 for _ANY and _ALL. For other dtypes
 * kw_gpu_copy goes before or behind. */
void kw_gpu_reduce(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *in,
                   uint32_t reduced);

/* The same for opcodes with a number for every output, `shift`: of its shape and strides, and of the dtype that `in`
 * computes in. KW_REDUCE_SUM_SQUARES, of x - shift, is divided by `divisor`; KW_REDUCE_SUM_EXP is the sum of
 * exp(x - shift), KW_REDUCE_LOG_SUM_EXP its logarithm plus shift; KW_REDUCE_SUM_OVER is the sum divided by shift. */
void kw_gpu_reduce_shifted(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *out, const kw_gpu_tensor *in,
                           uint32_t reduced, const kw_gpu_tensor *shift, double divisor);

/* One result for every `block->chunk` elements of each row, to `totals` [rows, chunks], in the order of the block. */
void kw_gpu_reduce_chunks(kw_gpu_plan *plan, int32_t opcode, const kw_gpu_tensor *totals, const kw_gpu_tensor *in,
                          const kw_reduction *block);

#endif /* KEYWAY_GPU_REDUCE_H */

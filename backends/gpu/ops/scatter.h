/* SPDX-License-Identifier: Apache-2.0
 *
 * Scatter: entries go to the rows that index tensors name; sorted, then reduced in their order, without atomics.
 */
#ifndef KEYWAY_GPU_SCATTER_H
#define KEYWAY_GPU_SCATTER_H

#include "lower/plan.h"

#include "kernels/scatter_args.kw"

/* Entry number i goes to row keys[i] of `out`, or nowhere where that is negative. In row-major order of their own
 * dimensions `out` and `self` are [outer, rows, inner] and `src` is [outer, entries / fan, inner], whatever rank and
 * strides they have: entry number i is src[:, i / fan, :]. All have one dtype, in whose compute type each element of
 * `out` is reduced and then rounded once. */
typedef struct kw_gpu_scatter {
  int32_t op;         /* KW_SCATTER_SUM, ...; not KW_SCATTER_LAST, which kw_gpu_scatter_moves is for */
  kw_gpu_tensor out;  /* all of it is written */
  kw_gpu_tensor self; /* what rows that no entry goes to keep; without one they are 0 */
  bool with_self;     /* `self` is one number more of every row */
  kw_gpu_tensor src;
  kw_gpu_tensor keys;    /* i64, contiguous */
  kw_gpu_tensor weights; /* of entries; contiguous, of the compute dtype. None are all 1 */
  const kw_value *alpha; /* a Scalar that src is multiplied by, or NULL */
  int64_t outer, rows, inner;
  int64_t fan; /* how many entries share a row of src; 0 means 1 */
  /* Where known: each line_entries entries after each other go to rows of one line of as many, in their order. */
  int64_t line, line_entries;
} kw_gpu_scatter;

void kw_gpu_scatter_rows(kw_gpu_plan *plan, const kw_gpu_scatter *scatter);

/* scatter.src's arguments: elements of `src` are moved to where an index says along a dimension, the last of several
 * for a place stays. False, and nothing is added to the plan, on devices and for elements that it is not made for. */
bool kw_gpu_scatter_moves(kw_gpu_plan *plan);

#endif /* KEYWAY_GPU_SCATTER_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * How a reduction walks its tensors: from result to result, and over the elements that one is made of.
 */
#ifndef KEYWAY_CPU_FAST_REDUCTION_H
#define KEYWAY_CPU_FAST_REDUCTION_H

#include "cut.h"
#include "loop.h"

#include <stdbool.h>

typedef struct kw_reduction {
  kw_loop kept;    /* operands: the results, behind them the first of the elements that they are made of */
  kw_loop folded;  /* of one result; operand 0 steps from the first element */
  bool by_columns; /* results lie side by side, and not what each is made of */
  kw_cut cut;
} kw_reduction;

/* Of the dimensions of `in` in the mask `folded`, which the results have as 1 or not at all. `in_order`: the elements
 * of a result are visited in row-major order. False where there is nothing to visit. */
bool kw_reduction_plan(kw_reduction *reduction, const kw_tensor_ref *const *outs, uint32_t count,
                       const kw_tensor_ref *in, uint32_t folded, bool in_order);

#endif /* KEYWAY_CPU_FAST_REDUCTION_H */

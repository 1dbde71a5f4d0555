/* SPDX-License-Identifier: Apache-2.0
 *
 * The class SIZES: cases of other classes whose sizes are such as blocks, tiles and vectors end at.
 */
#ifndef KEYWAY_CONFORMANCE_SWEEP_H
#define KEYWAY_CONFORMANCE_SWEEP_H

#include "case/case.h"

/* How many numbers the class has for a dtype of this op: few in f64, whose oracles are slow, and of pointwise ops,
 * whose elements know no neighbours. */
uint32_t kw_case_sweep_count(const kw_suite_op *op, kw_dtype key);

/* How many cases one of the class may be made from. */
#define KW_SWEEP_BASES 12

/* Makes a case that was begun, with its id, one of the class and number it is to be made from; each attempt, counted
 * from 0, chooses other ones, and other sizes. */
void kw_case_sweep_start(kw_case *c, uint32_t attempt);

/* The sizes of such a case in place of those of the case it is made from: one at an edge, often another one too, and
 * the rest so small that the case stays cheap. */
void kw_case_sweep(const kw_case *c, kw_shape *io_sizes);

/* Whether it has become one: what it is made from has sizes, and not so many tensors' worth of elements. */
bool kw_case_sweep_fits(const kw_case *c);

#endif /* KEYWAY_CONFORMANCE_SWEEP_H */

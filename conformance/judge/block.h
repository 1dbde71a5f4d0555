/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging blocks of f32's bit patterns (KW_CLASS_PATTERNS, KW_CLASS_DENSE), of which there are too many for the oracle
 * in 113 bits. In two stages: all elements are held against the oracle in f64, whose own error has a bound per op
 * (f64_bounds.def); where that error might make a difference, to the verdict or to the largest error, 113 bits decide.
 */
#ifndef KEYWAY_CONFORMANCE_BLOCK_H
#define KEYWAY_CONFORMANCE_BLOCK_H

#include "judge/compare.h"
#include "judge/result.h"

/* What one kernel made of a block. */
typedef struct kw_block_side {
  const void *got; /* densely packed; NULL: nothing to judge */
  kw_rule rule;
  kw_comparison found;       /* out; `error` as of kw_compare_result, but for errors too small to be told from 0 */
  char worst[KW_WORST_TEXT]; /* out: the operands at the largest error, "0.5 (0x3f000000)"; "" when that is 0 */
  uint64_t wide;             /* out: elements that 113 bits decided */
} kw_block_side;

/* Whether the op's f64 results have a bound: only then has it blocks. In units of 2^-52. */
bool kw_block_bound(const kw_suite_op *op, double *out_units);

/* Judges the results of the sides. False where the oracle cannot run the case. */
bool kw_block_judge(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, kw_block_side *sides,
                    uint32_t count);

#endif /* KEYWAY_CONFORMANCE_BLOCK_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * What an element was computed from, for who reads of a failure.
 */
#ifndef KEYWAY_CONFORMANCE_OPERANDS_H
#define KEYWAY_CONFORMANCE_OPERANDS_H

#include "case/case.h"

/* Whether each element of the case's result follows from one element of each tensor, as far as the suite knows. */
bool kw_operands_known(const kw_case *c);

/* "self = -inf (0xff800000), exponent = 0.5": the operands of element `index` (row-major) of such a case's first result
 * in a run, and the numbers beside the tensors. */
void kw_operands_print(const kw_case *c, uint64_t seed, uint32_t run, int64_t index, char *text, size_t size);

#endif /* KEYWAY_CONFORMANCE_OPERANDS_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers of the mutants of mm that compute, or claim to, in a lower math mode.
 */
#ifndef KEYWAY_MUTANT_PRODUCT_H
#define KEYWAY_MUTANT_PRODUCT_H

#include "mutant.h"

/* Launches with f32 operands cut down to this many bits of their mantissa, others as they are, and waits for the
 * stream. */
kw_status kw_mutant_run_cut(const kw_call *call, int bits);

/* Registers another kernel beside `kernel`, where that is one for f32: for f32 alone, in this math mode, to be tried
 * first. For kw_mutant.kernel. */
void kw_mutant_add_kernel(const kw_kernel_desc *kernel, const char *name, kw_math_mode needs,
                          kw_status (*launch)(const kw_call *call));

#endif /* KEYWAY_MUTANT_PRODUCT_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that mapping.def names, and what several of them build on.
 */
#ifndef KEYWAY_ORT_OPS_H
#define KEYWAY_ORT_OPS_H

#include "run.h"

/* i64 0, 1, ..., count - 1. */
value *run_range(run *run, int64_t count);
/* As NumPy's matmul; to an output, or, with -1, returned. */
value *run_matmul(run *run, const value *a, const value *b, int output);
value *run_convolution(run *run, const value *x, const value *weight, const value *bias, int output);

/* Every function of a row. */
#define CALLS(text)
#define BY(function) bool function(run *run);
#define ROW(op_type, first, last, dtypes, host, how) how
#define OUTPUTS_ON_HOST(op_type, first, last, how) how
#include "mapping.def"
#undef CALLS
#undef BY
#undef ROW
#undef OUTPUTS_ON_HOST

#endif

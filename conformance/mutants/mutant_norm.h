/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm in f32 from means and reciprocal deviations that are wrong.
 */
#ifndef KEYWAY_MUTANT_NORM_H
#define KEYWAY_MUTANT_NORM_H

#include "mutant.h"

/* A row that is normalised: its elements are first .. first + count - 1 of `in`, row-major. */
typedef struct kw_mutant_row {
  const kw_tensor_ref *in;
  int64_t first, count;
  double eps;
  float mean, rstd; /* as the cpu plugin has them, for `change` to change */
} kw_mutant_row;

float kw_mutant_row_at(const kw_mutant_row *row, int64_t i);
/* The mean of the squares of x - mean. */
float kw_mutant_row_variance(const kw_mutant_row *row);

/* Runs native_layer_norm of f32 on rows that `change` has been at, of other dtypes as it should be; waits. */
kw_status kw_mutant_run_norm(const kw_call *call, void (*change)(kw_mutant_row *row));

#endif /* KEYWAY_MUTANT_NORM_H */

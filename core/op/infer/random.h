/* SPDX-License-Identifier: Apache-2.0
 *
 * What random ops demand of the numbers they are given.
 */
#ifndef KEYWAY_CORE_INFER_RANDOM_H
#define KEYWAY_CORE_INFER_RANDOM_H

#include "op/infer/common.h"

/* All integers from low to high are values of the dtype, bool to f64. */
typedef struct kw_integer_range {
  int64_t low, high;
} kw_integer_range;
kw_integer_range kw_infer_exact_integers(kw_dtype dtype);

/* KW_OK for ops that are not random. */
kw_status kw_infer_check_random(const kw_op *op, const kw_value *args, kw_dtype key);

#endif /* KEYWAY_CORE_INFER_RANDOM_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The dtypes of a call, by the result rules of the op table.
 */
#ifndef KEYWAY_CORE_INFER_DTYPE_H
#define KEYWAY_CORE_INFER_DTYPE_H

#include "op/infer/common.h"

/* The dtype that a call computes with. */
kw_status kw_infer_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);
kw_dtype kw_infer_result_dtype(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result);
/* The arguments that are cast to the key dtype before a kernel sees them, as a mask. */
uint32_t kw_infer_casts(const kw_op *op, const kw_value *args, kw_dtype key);

#endif /* KEYWAY_CORE_INFER_DTYPE_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes of quantisation.
 */
#ifndef KEYWAY_CORE_INFER_QUANTIZE_H
#define KEYWAY_CORE_INFER_QUANTIZE_H

#include "op/infer/common.h"

/* Tensors of these ops have one dtype or dtypes of their own, and are not cast. */
bool kw_infer_is_quant(const kw_op *op);
kw_status kw_infer_quant_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

#endif /* KEYWAY_CORE_INFER_QUANTIZE_H */

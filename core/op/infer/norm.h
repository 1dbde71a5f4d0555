/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax and the normalisations.
 */
#ifndef KEYWAY_CORE_INFER_NORM_H
#define KEYWAY_CORE_INFER_NORM_H

#include "op/infer/common.h"

/* That "normalized_shape" names the last dimensions of "input", the first of them *out_outer, and that "weight" and
 * "bias" have that shape. */
kw_status kw_infer_check_normalized(const kw_op *op, const kw_value *args, uint32_t *out_outer);

#endif /* KEYWAY_CORE_INFER_NORM_H */

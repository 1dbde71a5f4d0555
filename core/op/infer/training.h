/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes of optimisers, of the scaling of gradients and of metrics.
 */
#ifndef KEYWAY_CORE_INFER_TRAINING_H
#define KEYWAY_CORE_INFER_TRAINING_H

#include "op/infer/common.h"

kw_status kw_infer_own_key(const kw_op *op, const kw_value *args, kw_dtype *out_key);

#endif /* KEYWAY_CORE_INFER_TRAINING_H */

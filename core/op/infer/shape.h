/* SPDX-License-Identifier: Apache-2.0
 *
 * The shapes of results.
 */
#ifndef KEYWAY_CORE_INFER_SHAPE_H
#define KEYWAY_CORE_INFER_SHAPE_H

#include "op/infer/shape_rules.h"

/* The shape of every result by the op's shape rule. */
kw_status kw_infer_shape(const kw_op *op, const kw_value *args, kw_infer_dims out_dims[KW_MAX_RESULTS],
                         bool *out_expand);

#endif /* KEYWAY_CORE_INFER_SHAPE_H */

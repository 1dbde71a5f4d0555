/* SPDX-License-Identifier: Apache-2.0
 *
 * The shapes of results.
 */
#ifndef KEYWAY_CORE_INFER_SHAPE_H
#define KEYWAY_CORE_INFER_SHAPE_H

#include "op/infer/shape_rules.h"

/* The shape of every result by the op's shape rule. */
kw_infer_shape_fn kw_infer_shape;

#endif /* KEYWAY_CORE_INFER_SHAPE_H */

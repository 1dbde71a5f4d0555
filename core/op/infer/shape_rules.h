/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the shape rules: kw_infer_X for each row of shape_rules.def, each defined in the file of its ops.
 */
#ifndef KEYWAY_CORE_INFER_SHAPE_RULES_H
#define KEYWAY_CORE_INFER_SHAPE_RULES_H

#include "op/infer/common.h"

/* A shape rule: the shape of every result, KW_MAX_RESULTS at most. *out_expand: tensor arguments are to be expanded to
 * result 0. */
typedef kw_status kw_infer_shape_fn(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand);
#define KW_SHAPE_RULE(name, infer, cases, text) kw_infer_shape_fn kw_infer_##infer;
#include "shape_rules.def"

#endif /* KEYWAY_CORE_INFER_SHAPE_RULES_H */

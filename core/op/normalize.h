/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a call as its schema has them.
 */
#ifndef KEYWAY_CORE_NORMALIZE_H
#define KEYWAY_CORE_NORMALIZE_H

#include "op/op.h"

/* The arguments as the schema has them: count and tags checked, int/float/bool turned into Scalar where the schema says
 * so, an int into a list of one for int[N], defaults filled in. out_args has schema.arg_count entries; lists point into
 * the caller's memory or the schema. `scratch` holds one int per argument for such lists. Messages name op and
 * argument. */
kw_status kw_op_normalize(const kw_op *op, const kw_value *args, uint32_t arg_count, kw_value out_args[KW_MAX_ARGS],
                          int64_t scratch[KW_MAX_ARGS]);

#endif /* KEYWAY_CORE_NORMALIZE_H */

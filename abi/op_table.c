/* SPDX-License-Identifier: Apache-2.0 */
#include "op_table.h"

#define EXACT KW_SPECIAL_EXACT
#define EITHER KW_SPECIAL_EITHER
#define UNSPECIFIED KW_SPECIAL_UNSPECIFIED

const kw_op_row kw_op_table[] = {
#define KW_OP(schema, dtypes, shape, result, compare, ulp, abs, magnitude, nan, inf, zero, sub, level) \
  {schema,                                                                                             \
   KW_DTYPES_##dtypes,                                                                                 \
   KW_SHAPE_##shape,                                                                                   \
   KW_RESULT_##result,                                                                                 \
   KW_CMP_##compare,                                                                                   \
   ulp,                                                                                                \
   abs,                                                                                                \
   magnitude,                                                                                          \
   nan,                                                                                                \
   inf,                                                                                                \
   zero,                                                                                               \
   sub,                                                                                                \
   KW_LEVEL_##level},
#include "ops.def"
};
const uint32_t kw_op_table_count = sizeof kw_op_table / sizeof kw_op_table[0];

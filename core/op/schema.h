/* SPDX-License-Identifier: Apache-2.0
 *
 * An op's schema, taken apart.
 */
#ifndef KEYWAY_CORE_SCHEMA_H
#define KEYWAY_CORE_SCHEMA_H

#include "op_table.h"

#include <keyway/plugin.h>

/* One argument of a schema. */
typedef struct kw_schema_arg {
  char name[32];
  kw_tag tag;         /* KW_TAG_NONE never */
  bool optional;      /* "?": may be none */
  bool list_optional; /* Tensor?[] */
  bool mutated;       /* (a!); of a list each entry */
  bool keyword_only;  /* after "*" */
  bool has_default;
  int32_t list_size;  /* int[1]: a single int will do too; 0 otherwise */
  int32_t bool_count; /* bool[N]: a list of exactly N ints that are 0 or 1; 0 otherwise */
  kw_value default_value;
} kw_schema_arg;

typedef struct kw_schema_result {
  int32_t alias_of; /* index of the argument that this result is (a!), or -1 */
} kw_schema_result;

typedef struct kw_schema {
  char name[64]; /* with overload: "add.Tensor", "acme::scaled_add" */
  uint32_t arg_count;
  uint32_t required_count; /* leading arguments without default */
  uint32_t result_count;
  int32_t
      output_mask; /* index of "bool[N] output_mask", which says for each of N results whether it is wanted; or -1 */
  kw_schema_arg args[KW_MAX_ARGS];
  kw_schema_result results[KW_MAX_RESULTS];
  char *text;            /* the whole schema; owned */
  int64_t *default_ints; /* owned storage behind int-list defaults */
  char *default_strings; /* owned storage behind string defaults */
} kw_schema;

/* Parses ATen's schema grammar (Tensor, Tensor(a!), Tensor?, Tensor[], Tensor(a!)[], Tensor?[], int, int?, int[],
 * int[N], SymInt.. as int, float, float?, bool, bool?, bool[N], str, str?, Scalar, Scalar?, ScalarType, ScalarType?;
 * defaults None, True, False, numbers, 'text', [], [1, 2]; results "Tensor", "Tensor(a!)", "(Tensor, Tensor)", "()").
 * KW_ERR_INVALID_ARGUMENT, and the message names the column, or KW_ERR_OUT_OF_MEMORY. */
kw_status kw_schema_parse(const char *text, kw_schema *out_schema);
void kw_schema_free(kw_schema *schema);

#endif /* KEYWAY_CORE_SCHEMA_H */

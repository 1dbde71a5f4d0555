/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops: the rows of the op table and what plugins defined, parsed and interned.
 */
#ifndef KEYWAY_CORE_OP_H
#define KEYWAY_CORE_OP_H

#include "op_table.h"

#include <keyway/plugin.h>

#define KW_MAX_ARGS 24
#define KW_MAX_RESULTS 8

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
 * On failure the message names the column. */
kw_status kw_schema_parse(const char *text, kw_schema *out_schema);
void kw_schema_free(kw_schema *schema);

#define KW_OP_ID_BITS 12

struct kw_op {
  uint32_t id; /* 1.. in order of definition; dense; fits in KW_OP_ID_BITS */
  kw_schema schema;
  int32_t generator;         /* index of the Generator argument, which makes the op a random one; -1 without */
  bool counted;              /* kw_op_row_counted: schema.results has the count as its last */
  uint32_t changed;          /* bit i: argument i is (a!) and no result */
  kw_cast_policy cast;       /* of autocast */
  kw_op_row row;             /* for a vendor's op: made up from its kw_op_desc, level KW_LEVEL_VENDOR */
  kw_infer_fn infer;         /* vendor ops only */
  kw_reference_fn reference; /* vendor ops only */
};

/* Highest id handed out so far plus one. */
uint32_t kw_op_id_limit(void);
const kw_op *kw_op_by_id(uint32_t id);

/* Adds a vendor's op (host->define_op). Same name and schema again: KW_OK. `vendor` names the definer in messages.
 * Thread-safe; look-ups go on without a lock meanwhile. */
kw_status kw_op_define(const char *vendor, const kw_op_desc *desc);

/* A set of results: what the arguments of a call mean. */
typedef struct kw_inference {
  kw_dtype key; /* see plugin.h */
  uint32_t result_count;
  uint32_t absent;                       /* bit i: output_mask leaves result i out; its descriptor is all zero */
  kw_tensor_ref results[KW_MAX_RESULTS]; /* dtype, rank, shape, contiguous strides, numel; mem NULL. For a result marked
                                            (a!) a copy of the argument's descriptor */
  bool broadcast; /* tensor arguments are to be expanded to results[0]'s shape (to argument 0's for
                     KW_SHAPE_INPLACE) */
  uint32_t cast;  /* bit i: argument i is a tensor whose dtype differs from key and takes part in promotion, or a list
                     with such a tensor */
} kw_inference;

/* The arguments as the schema has them: count and tags checked, int/float/bool turned into Scalar where the schema says
 * so, an int into a list of one for int[N], defaults filled in. out_args has schema.arg_count entries; lists point into
 * the caller's memory or the schema. `scratch` holds one int per argument for such lists. Messages name op and
 * argument. */
kw_status kw_op_normalize(const kw_op *op, const kw_value *args, uint32_t arg_count, kw_value out_args[KW_MAX_ARGS],
                          int64_t scratch[KW_MAX_ARGS]);

/* Checks dtypes and shapes of normalised arguments and infers the results. Pure. */
kw_status kw_op_infer(const kw_op *op, const kw_value *args, kw_inference *out_inference);

#endif /* KEYWAY_CORE_OP_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The op table: one row per overload of the op set. ops.def holds the rows; core makes ops of them, the conformance
 * suite takes bounds and special-value rules from them, and the op reference in docs/ is generated from them.
 */
#ifndef KEYWAY_OP_TABLE_H
#define KEYWAY_OP_TABLE_H

#include <keyway/keyway.h>

#define KW_OP_SET_VERSION "1.0" /* named by verdicts; rows are only ever added to it */

/* How many dtypes this version knows, and of how many, the first, an op can be defined for: KW_DTYPES_ANY. */
enum {
#define KW_DTYPE_ONE(dtype, name, size) +1
  KW_DTYPE_COUNT = 0 KW_DTYPE_LIST(KW_DTYPE_ONE),
#undef KW_DTYPE_ONE
  KW_KEY_DTYPE_COUNT = KW_C128 + 1
};

/* How result shapes follow from the arguments: a row of shape_rules.def. */
typedef enum kw_shape_rule {
#define KW_SHAPE_RULE(name, infer, cases, text) KW_SHAPE_##name,
#include "shape_rules.def"
  KW_SHAPE_CUSTOM /* the vendor's infer callback */
} kw_shape_rule;

/* How the key dtype and the dtypes of results follow from the arguments: a row of result_rules.def. */
typedef enum kw_result_rule {
#define KW_RESULT_RULE(name, key, dtype, casts, text) KW_RESULT_##name,
#include "result_rules.def"
  KW_RESULT_CUSTOM /* key: tensors promoted; result: the vendor's infer callback */
} kw_result_rule;

/* How the suite compares. "c" is the compute type: f32 for floats of at most 32 bits, f64 for f64. A result narrower
 * than c may differ by half a unit of its own more. */
typedef enum kw_compare {
  KW_CMP_BITS,       /* the same bits, NaN payloads included (payloads are free where the dtype changes) */
  KW_CMP_ULP,        /* |got - oracle| <= ulp * ULP_c(oracle) + abs * eps_c; 0 and 0: equal values */
  KW_CMP_ACCUMULATE, /* |got - oracle| <= growth(n) * eps_c * magnitude: `magnitude` is the row's magnitude op run on
                        absolute values, n the number of terms (of a scan: up to the element), growth(n) =
                        min(n, 4 + 2 sqrt(n)). "OP/magnitude" is the bound itself, for the case's own values: n is 1.
                        A vendor's op says its growth itself, and is its own magnitude op */
  KW_CMP_WRITTEN,    /* bits; where several values are written to one place, any of them */
  KW_CMP_QUANTUM,    /* an integer from what "OP/low" to what "OP/high" gives: the op with its values moved down and up,
                        before they are rounded, by as much as they may be off */
  KW_CMP_INDEX /* an index: the value found there must equal the value at the oracle's index, and be the lowest such */
} kw_compare;

/* What a special value in an input or a result promises. */
typedef enum kw_special {
  KW_SPECIAL_EXACT,      /* as the oracle says */
  KW_SPECIAL_EITHER,     /* signed zero: either zero will do */
  KW_SPECIAL_UNSPECIFIED /* elements that meet it are not compared */
} kw_special;

/* How far a result may be from the oracle's. */
typedef struct kw_op_bound {
  kw_compare compare;
  double ulp;            /* KW_CMP_ULP */
  double abs;            /* KW_CMP_ULP, in eps of the compute type */
  const char *magnitude; /* KW_CMP_ACCUMULATE: an op with the same arguments and results */
  double growth;         /* of a vendor's op, in place of growth(n); otherwise 0 */
} kw_op_bound;

/* What a level asks for only with a "+" in its name, beside dtypes: families of ops that many devices never need. */
typedef enum kw_op_extension {
  KW_EXTENSION_NONE,
  KW_EXTENSION_INT4,
  KW_EXTENSION_SPARSE,
  KW_EXTENSION_FFT,
  KW_EXTENSION_DETECTION,
  KW_EXTENSION_PAGED
} kw_op_extension;

/* Rows that belong together: from `first` on, up to the next family's. */
typedef struct kw_op_family {
  const char *name;
  const char *first; /* the op */
  kw_op_extension extension;
} kw_op_family;

/* Most arguments and results of an op, a vendor's too. */
#define KW_MAX_ARGS 24
#define KW_MAX_RESULTS 8

typedef struct kw_op_row {
  const char *schema; /* ATen's grammar */
  uint64_t dtypes;    /* dtypes of the promoted tensor arguments that the op is defined for, KW_DTYPE_BIT */
  kw_shape_rule shape;
  kw_result_rule result;
  kw_compare compare;
  double ulp, abs; /* compare, ulp, abs and magnitude as in kw_op_bound; see kw_op_row_bound */
  const char *magnitude;
  kw_special nan, inf, zero, subnormal;
  kw_level level;
  double growth; /* KW_CMP_ACCUMULATE of a vendor's op; 0 in the table */
} kw_op_row;

extern const kw_op_row kw_op_table[];
extern const uint32_t kw_op_table_count;

/* The family of a row of the table, or NULL for another row. */
const kw_op_family *kw_op_row_family(const kw_op_row *row);

/* What autocast does with the op's arguments (op_casts.def). */
kw_cast_policy kw_op_row_cast(const kw_op_row *row);

/* The bound of one result: the row's, unless ops.def has a KW_OP_RESULT for it. Arguments marked (a!) that are no
 * results count on behind the results, a list as one. */
kw_op_bound kw_op_row_bound(const kw_op_row *row, uint32_t result);

/* A bound in a few words: "3 ulp", "8 ulp + 4e-30 eps", "growth(n) eps of add.Tensor of absolute values". */
void kw_op_bound_text(const kw_op_bound *bound, char *out_text, size_t size);

/* Whether each element of the result follows from the same element of the arguments: then the result may be exactly an
 * argument. */
bool kw_op_row_pointwise(const kw_op_row *row);

/* How many entries the first result has along its first dimension only the data show. Its inferred shape is the largest
 * possible; kernels get one result more than the schema has, the last: an i64 of rank 0, where they store how many
 * entries they have filled. The others are unspecified. */
bool kw_op_row_counted(const kw_op_row *row);

#endif /* KEYWAY_OP_TABLE_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The op table: one row per overload of the op set. ops.def holds the rows; core makes ops of them, the conformance
 * suite takes bounds and special-value rules from them, and the op reference in docs/ is generated from them.
 */
#ifndef KEYWAY_OP_TABLE_H
#define KEYWAY_OP_TABLE_H

#include <keyway/keyway.h>

#define KW_OP_SET_VERSION "0.9" /* named by verdicts; rows are only ever added to it */

/* How result shapes follow from the arguments. */
typedef enum kw_shape_rule {
  KW_SHAPE_BROADCAST, /* all tensor arguments broadcast together; the result has that shape */
  KW_SHAPE_INPLACE,   /* the result is argument 0 (a!); other tensor arguments broadcast to it */
  /* argument 0's; other tensor arguments broadcast to it */
  KW_SHAPE_LIKE,
  KW_SHAPE_REDUCE_ALL,  /* rank 0 */
  KW_SHAPE_REDUCE_DIMS, /* argument "dim": a list (empty or none = all dimensions; in any.dims empty = none of
                           them); argument "keepdim" */
  KW_SHAPE_REDUCE_DIM,  /* argument "dim": one or none (= all, flattened); argument "keepdim" */
  KW_SHAPE_MM,          /* [n, k] x [k, m] -> [n, m] */
  KW_SHAPE_SIZE,        /* argument "size" */
  KW_SHAPE_ARANGE,      /* [ceil((end - start) / step)] */
  KW_SHAPE_SCAN,        /* argument 0's; argument "dim" names one of its dimensions */
  KW_SHAPE_BMM,         /* [b, n, k] x [b, k, m] -> [b, n, m] */
  KW_SHAPE_ADDMM,       /* [n, k] x [k, m] -> [n, m], to which argument 0 broadcasts */
  KW_SHAPE_NORM,        /* argument 0's; results 1 and 2: the same with 1 for each of normalized_shape */
  /* argument 0's, the last dimensions cut into windows by "kernel_size", "stride", "padding", .. */
  KW_SHAPE_POOL,
  /* argument 0's, the last sizes those of argument "output_size" */
  KW_SHAPE_ADAPTIVE_POOL,
  /* argument "self"'s; "grad_output", and "indices", have the shape of the pool's result */
  KW_SHAPE_POOL_BACKWARD,
  KW_SHAPE_CAT,          /* entries joined along argument "dim"; an entry of shape [0] counts as nothing */
  KW_SHAPE_EMBEDDING,    /* indices' shape, then [d] of weight [n, d] */
  KW_SHAPE_INDEX_SELECT, /* argument 0's with as many along "dim" as index [n] has */
  KW_SHAPE_GATHER,       /* index's */
  KW_SHAPE_SCATTER,      /* argument 0's */
  KW_SHAPE_INDEX,        /* advanced indexing: the broadcast of all indices in place of the indexed dimensions */
  KW_SHAPE_INDEX_PUT,    /* argument 0's */
  /* [number of elements that "self" and "mask" broadcast to], at most */
  KW_SHAPE_MASKED_SELECT,
  /* "self" and "mask" broadcast together */
  KW_SHAPE_MASKED_SCATTER,
  /* argument 0's with argument "k" along "dim" */
  KW_SHAPE_TOPK,

  KW_SHAPE_REPEAT,         /* argument 0's, 1s before it where "repeats" is longer, times "repeats" */
  KW_SHAPE_FLIP,           /* argument 0's; "dims" are dimensions of it, each once */
  KW_SHAPE_ROLL,           /* argument 0's; as many "shifts" as "dims", or one shift of all elements in a row */
  KW_SHAPE_TRIANGLE,       /* argument 0's, of rank 2 or more */
  KW_SHAPE_SELECT_SCATTER, /* argument 0's; argument 1 has the shape of its slice number "index" along "dim" */
  KW_SHAPE_SLICE_SCATTER,  /* argument 0's; argument 1 has the shape of its slice "start", "end", "step" along "dim" */
  KW_SHAPE_PAD,            /* argument 0's, longer by "pad": pairs (before, after) from the last dimension on */
  KW_SHAPE_PAD_REFLECT,    /* the same by "padding" of all but the first one or two dimensions, each number smaller than
                              its dimension */
  KW_SHAPE_PAD_REPLICATE,  /* the same for numbers of any size */
  KW_SHAPE_PAD_BACKWARD, /* argument 1's; argument 0 has that of a PAD_REFLECT or PAD_REPLICATE of it, by the op's name
                          */
  KW_SHAPE_SCATTER_REDUCE, /* argument 0's; "reduce" is sum, prod, mean, amax or amin */
  KW_SHAPE_INDEX_ADD,      /* argument 0's; "source" has as many slices along "dim" as "index" [n] says */
  KW_SHAPE_CDIST,          /* [.., n, k], [.., m, k] -> [.., n, m]; what is before that broadcasts */
  KW_SHAPE_PDIST,          /* [n, k] -> [n (n - 1) / 2] */
  KW_SHAPE_FFT, /* argument 0's; with "onesided" the last of "dim" is n / 2 + 1 long; with "last_dim_size" it is
                   of that size, and half of it and 1 in argument 0 */

  KW_SHAPE_CONVOLUTION,           /* [n, channels of weight (argument 1), places of the kernel] */
  KW_SHAPE_CONVOLUTION_BACKWARD,  /* those of arguments 1 and 2, and [channels of argument 0] */
  KW_SHAPE_IM2COL,                /* [n, c, h, w] -> [n, c * kernel, places of the kernel]; n may be missing */
  KW_SHAPE_COL2IM,                /* back: [n, c, output_size] */
  KW_SHAPE_UPSAMPLE,              /* [n, c, ...] -> [n, c, output_size] */
  KW_SHAPE_UPSAMPLE_BACKWARD,     /* "input_size" */
  KW_SHAPE_GRID_SAMPLER,          /* [n, c, h, w] and [n, y, x, 2] -> [n, c, y, x] */
  KW_SHAPE_GRID_SAMPLER_BACKWARD, /* those of arguments 1 and 2 */

  KW_SHAPE_BOX_PAIRS,          /* [n, 4] and [m, 4] -> [n, m] */
  KW_SHAPE_NMS,                /* [n] of boxes [n, 4], at most */
  KW_SHAPE_ROI_ALIGN,          /* [n, c, h, w] and [k, 5] -> [k, c, "pooled_height", "pooled_width"] */
  KW_SHAPE_ROI_ALIGN_BACKWARD, /* ["batch_size", "channels", "height", "width"] */

  KW_SHAPE_NONZERO, /* [number of elements, rank] of argument 0, at most */
  /* argument 0's; argument "scales" has one for each index along "axis" */
  KW_SHAPE_QUANTIZE,
  /* [m, k] and weights [n, k] -> [m, n] */
  KW_SHAPE_LINEAR,
  /* the same with two weights a byte, [n, k / 2] */
  KW_SHAPE_INT4_LINEAR,
  /* the same with two weights of every four, [n, k / 2] */
  KW_SHAPE_SPARSE24_LINEAR,
  /* the same with blocks of weights; n follows from where their rows start */
  KW_SHAPE_BSR_LINEAR,
  /* argument 0's with half as many in the last dimension */
  KW_SHAPE_INT4_PACK,
  /* [n, k] -> [n, k / 2] and [n, ceil(k / 8)] */
  KW_SHAPE_SPARSE24_COMPRESS,

  /* "input"'s [n, channels, ...]; results 1 and 2: [channels] of a training op, otherwise [0] */
  KW_SHAPE_BATCH_NORM,
  /* "input"'s [n, channels, ...]; results 1 and 2: [n, group] */
  KW_SHAPE_GROUP_NORM,
  /* "input"'s [n, channels, ...]; results 1 and 2: [channels] */
  KW_SHAPE_BATCH_NORM_BACKWARD,
  KW_SHAPE_GROUP_NORM_BACKWARD,
  /* "input"'s; the others: "normalized_shape" */
  KW_SHAPE_NORM_BACKWARD,
  /* arguments 0 and 1 have one shape, and so has the result; "dim" names one of its dimensions */
  KW_SHAPE_SOFTMAX_BACKWARD,
  /* all tensors broadcast together; with a "reduction" rank 0 */
  KW_SHAPE_LOSS,
  /* "self"'s; the other tensors broadcast to it */
  KW_SHAPE_LOSS_BACKWARD,
  /* [.., l, e], keys [.., s, e], values [.., s, d] -> [.., l, d]; what lies before broadcasts */
  KW_SHAPE_SDPA,
  /* [b, h, l, e] of queries, [b, k, s, e] and [b, k, s, d] -> [b, h, l, d] and [b, h, l] */
  KW_SHAPE_ATTENTION,
  /* [t, h, e] of queries, [u, k, e] and [u, k, d] -> [t, h, d] and [t, h] */
  KW_SHAPE_ATTENTION_VARLEN,
  /* keys [pages, rows, k, e], values [pages, rows, k, d]; otherwise as ATTENTION */
  KW_SHAPE_ATTENTION_PAGED,
  /* those of query, key and value */
  KW_SHAPE_ATTENTION_BACKWARD,
  /* argument 0's with half as many along "dim" */
  KW_SHAPE_GLU,
  /* argument 1's; argument 0 has half as many along "dim" */
  KW_SHAPE_GLU_BACKWARD,
  /* all tensors have one shape, and so have all results */
  KW_SHAPE_SAME,
  /* argument 0's, [.., rows, width] */
  KW_SHAPE_ROPE,
  /* [bags, d] of weight [n, d], [indices], [bags], and with "mode" 2 [bags, d], else [bags] */
  KW_SHAPE_EMBEDDING_BAG,
  /* "target"'s, which is "self"'s [n, classes, ...] without classes; with a "reduction" rank 0. Result 1: rank 0 */
  KW_SHAPE_NLL_LOSS,
  /* "self"'s */
  KW_SHAPE_NLL_LOSS_BACKWARD,
  /* as KW_SHAPE_NLL_LOSS; "target" may be like "self" */
  KW_SHAPE_CROSS_ENTROPY,
  /* [num_weights, d] of gradients [..., d], "indices" having the other dimensions */
  KW_SHAPE_EMBEDDING_BACKWARD,
  /* entry i of every list has the shape of entry i of argument 0, of "state_steps" one element, as single tensors have;
     results have rank 0 */
  KW_SHAPE_LISTS,
  /* arguments 0 and 1 have one element */
  KW_SHAPE_ACCUMULATE_MEAN,
  /* argument 0 is [classes, classes], 1 and 2 have one shape */
  KW_SHAPE_ACCUMULATE_CONFUSION,

  /* argument "n": [n] */
  KW_SHAPE_COUNT,
  /* [n] or [m, n] -> [num_samples] or [m, num_samples] */
  KW_SHAPE_MULTINOMIAL,
  KW_SHAPE_CUSTOM /* the vendor's infer callback */
} kw_shape_rule;

/* How the key dtype (what the op computes on, see plugin.h) and the result dtype follow from the arguments. */
typedef enum kw_result_rule {
  KW_RESULT_KEY,      /* key: tensors and Scalars promoted; result: key */
  KW_RESULT_FLOAT,    /* the same, then integers and bool become f32 */
  KW_RESULT_DIV_MODE, /* KW_RESULT_FLOAT when rounding_mode is none, otherwise KW_RESULT_KEY */
  KW_RESULT_BOOL,     /* key: tensors and Scalars promoted; result: bool */
  KW_RESULT_I64,      /* key: argument 0; result: i64 */
  KW_RESULT_CHOICE,   /* key and result 0: argument 0; result 1: i64 */
  KW_RESULT_SUM,     /* key and result: argument "dtype" if given; otherwise argument 0, integers and bool become i64 */
  KW_RESULT_MEAN,    /* the same, for floats only */
  KW_RESULT_ANY,     /* key: argument 0; result: bool, but u8 for u8 */
  KW_RESULT_FIRST,   /* key and result: argument 0; so must all other tensors be, indices apart */
  KW_RESULT_INT_MM,  /* key: i8; result: i32 */
  KW_RESULT_SOFTMAX, /* key: argument 0; result: the same, f32 with half_to_float */
  KW_RESULT_NORM,    /* key and result 0: tensors promoted; results 1 and 2: the compute type, f32 or f64 */
  KW_RESULT_CAST,    /* key: argument 0; result: argument "dtype" if given, otherwise argument 0's */
  KW_RESULT_FACTORY, /* key and result: argument "dtype" if given, otherwise what the op's other arguments say */
  KW_RESULT_SELF,    /* key: argument 0 (copy_: the source); result: argument 0 */
  /* key: argument 0; result: argument "dtype" */
  KW_RESULT_QUANTIZE,
  /* key: argument 0; result: argument "out_dtype" if given, otherwise f32 */
  KW_RESULT_OUT_DTYPE,
  /* key and result 0: argument 0; result 1: u8 */
  KW_RESULT_COMPRESS,
  /* key and result: argument 0 */
  KW_RESULT_LINEAR,
  /* key and result 0: "input"; the other tensors: that or the compute type; results 1 and 2: the compute type */
  KW_RESULT_STATS,
  /* the same; results 1 and 2: "weight"'s, or without one "input"'s */
  KW_RESULT_STATS_BACKWARD,
  /* key: argument 0, as argument 1; result: argument "input_dtype", which is that, or f16 for f32 */
  KW_RESULT_SOFTMAX_BACKWARD,
  /* key: argument 0; result: complex of the same parts for a float, the parts for a complex number */
  KW_RESULT_OTHER_PARTS,
  /* key: argument 0, which queries, keys and values share; result: key, of two results the second the compute type */
  KW_RESULT_ATTENTION,
  /* key and result 0: argument 0; other results: i64 */
  KW_RESULT_EMBEDDING_BAG,
  /* key: argument 0, of a list its first entry, f32 of none; result: the compute type. The dtypes of other arguments
     are the op's own affair */
  KW_RESULT_OWN,
  KW_RESULT_DROPOUT, /* key and result 0: argument 0; result 1: bool */
  KW_RESULT_CUSTOM   /* key: tensors promoted; result: the vendor's infer callback */
} kw_result_rule;

/* How the suite compares. "c" is the compute type: f32 for floats of at most 32 bits, f64 for f64. A result narrower
 * than c may differ by half a unit of its own more. */
typedef enum kw_compare {
  KW_CMP_BITS,       /* the same bits, NaN payloads included (payloads are free where the dtype changes) */
  KW_CMP_ULP,        /* |got - oracle| <= ulp * ULP_c(oracle) + abs * eps_c; 0 and 0: equal values */
  KW_CMP_ACCUMULATE, /* |got - oracle| <= growth(n) * eps_c * magnitude: `magnitude` is the row's magnitude op run on
                        absolute values, n the number of terms (of a scan: up to the element), growth(n) =
                        min(n, 4 + 2 sqrt(n)). "OP/magnitude" is the bound itself, for the case's own values: n is 1 */
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

/* How many entries the first result has along its first dimension only the data show. Its inferred shape is the largest
 * possible; kernels get one result more than the schema has, the last: an i64 of rank 0, where they store how many
 * entries they have filled. The others are unspecified. */
bool kw_op_row_counted(const kw_op_row *row);

/* Dtype classes of ops.def. */
#define KW_DTYPES_INT \
  (KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I8) | KW_DTYPE_BIT(KW_I16) | KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64))
#define KW_DTYPES_I8 KW_DTYPE_BIT(KW_I8)
#define KW_DTYPES_F32 KW_DTYPE_BIT(KW_F32)
#define KW_DTYPES_U8 KW_DTYPE_BIT(KW_U8)
#define KW_DTYPES_FLOAT (KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16) | KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64))
#define KW_DTYPES_WIDE_FLOAT (KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64))
#define KW_DTYPES_FLOAT32 (KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16) | KW_DTYPE_BIT(KW_F32)) /* computed in f32 */
#define KW_DTYPES_QUANTIZED (KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I8) | KW_DTYPE_BIT(KW_I16) | KW_DTYPE_BIT(KW_I32))
#define KW_DTYPES_INDEX (KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64))
#define KW_DTYPES_BOOL KW_DTYPE_BIT(KW_BOOL)
#define KW_DTYPES_F8 (KW_DTYPE_BIT(KW_F8E4M3FN) | KW_DTYPE_BIT(KW_F8E5M2))
#define KW_DTYPES_COMPLEX (KW_DTYPE_BIT(KW_C64) | KW_DTYPE_BIT(KW_C128))
#define KW_DTYPES_NUM (KW_DTYPES_INT | KW_DTYPES_FLOAT)
#define KW_DTYPES_REAL (KW_DTYPES_NUM | KW_DTYPES_BOOL)
#define KW_DTYPES_INTEGRAL (KW_DTYPES_INT | KW_DTYPES_BOOL)
#define KW_DTYPES_ANY (KW_DTYPES_REAL | KW_DTYPES_F8 | KW_DTYPES_COMPLEX)

#endif /* KEYWAY_OP_TABLE_H */

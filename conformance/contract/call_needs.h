/* SPDX-License-Identifier: Apache-2.0
 *
 * What arguments of ops need, besides being square tensors, for a call that a device can run.
 */
#ifndef KEYWAY_CONTRACT_CALL_NEEDS_H
#define KEYWAY_CONTRACT_CALL_NEEDS_H

#include <keyway/keyway.h>

/* Arguments that are not simply a square tensor of the call's dtype, 0, 2, 0.5, false, or left out. */
typedef enum kw_need {
  KW_NEED_NONE,
  KW_NEED_INDEX,     /* indices, of the data's rank or of rank 1 */
  KW_NEED_TABLE,     /* indices, of rank 2 */
  KW_NEED_LENGTHS,   /* rank 1: 0, 1, 2, .. */
  KW_NEED_CAPACITY,  /* rank 1: the square of a size, everywhere */
  KW_NEED_ENDS,      /* 0 and the size of a dimension */
  KW_NEED_HALF,      /* data whose first dimension is half as large */
  KW_NEED_HALF_ROWS, /* a matrix half as wide as data */
  KW_NEED_ROWS,      /* data of one rank less, of the compute type */
  KW_NEED_MASK,      /* bool */
  KW_NEED_POINT,     /* data of rank 0 */
  KW_NEED_UNIT,      /* the f32 1, of rank 0 */
  KW_NEED_COUNT,     /* the i32 0, of rank 0 */
  KW_NEED_TALLY,     /* the i64 0, of rank 0 */
  KW_NEED_CLASS,     /* indices, of a rank one less than the data's */
  KW_NEED_LINE,      /* data of rank 1 */
  KW_NEED_THIN,      /* data whose last size is 1 */
  KW_NEED_TRUE,      /* true */
  KW_NEED_SHAPE,     /* a list of sizes: the shape of the data */
  KW_NEED_TWICE,     /* a list of sizes: 2 for each dimension of the data */
  KW_NEED_LAST_SIZE, /* a list of sizes: that of the last dimension */
  KW_NEED_EDGE,      /* a number: the size of a dimension */
  KW_NEED_ONE,       /* 1, or a list of it */
  KW_NEED_PAIRS,     /* data whose last size is 2 */
  KW_NEED_TRIPLES,   /* data whose last size is 3 */
  KW_NEED_WEIGHTS,   /* data without a negative number */
  KW_NEED_COLUMN,    /* a list of sizes: a column as high as a dimension */
  KW_NEED_ALL,       /* a list of bools: every result is wanted */
  KW_NEED_DTYPE,     /* the dtype of the call */
  KW_NEED_SLICE,     /* data of one dimension less */
  KW_NEED_NOTHING,   /* a list of no numbers */
  KW_NEED_SUM,       /* "sum" */
  KW_NEED_WHOLE      /* a number: the even size of what a dimension is half of, and one more */
} kw_need;

/* False, and *out_need untouched: the argument needs nothing in particular. */
bool kw_need_find(const char *op, const char *arg, kw_need *out_need);

/* How many places an index of the op can name where each dimension has `edge`: so many, or a whole plane. */
int64_t kw_need_places(const char *op, int64_t edge);

/* Whether this argument of an op of the op table holds indices. */
bool kw_test_is_index(const char *op, const kw_arg_info *arg);

/* Tensors with a dtype (NONE: the call's) and a shape of their own, one letter a dimension (letter_size); without a
 * shape: dtypes. `op` is a pattern. */
typedef struct kw_companion {
  const char *op, *arg;
  kw_dtype dtype;
  const char *shape;
} kw_companion;

/* The row for an argument, or NULL. */
const kw_companion *kw_companion_find(const char *op, const char *arg);

#endif /* KEYWAY_CONTRACT_CALL_NEEDS_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases as data: what is called, with tensors of which shapes and layouts, and what comes out. A case is a pure
 * function of its id; coordinator and worker both make it, and the values are a function of case and seed (value.h).
 */
#ifndef KEYWAY_CONFORMANCE_CASE_H
#define KEYWAY_CONFORMANCE_CASE_H

#include "signature.h"
#include "value.h"

typedef enum kw_case_class {
  KW_CLASS_SCALAR,     /* rank 0 */
  KW_CLASS_EMPTY,      /* no elements */
  KW_CLASS_ONE,        /* one element, rank at least 1 */
  KW_CLASS_PRIME,      /* odd sizes, ranks 1 to 16 */
  KW_CLASS_LARGE,      /* more than 2^16 elements */
  KW_CLASS_BROADCAST,  /* inputs of different shapes */
  KW_CLASS_TRANSPOSED, /* permuted strides */
  KW_CLASS_SLICED,     /* offsets, steps, rows longer than what is used */
  KW_CLASS_STRIDE0,    /* expanded inputs */
  KW_CLASS_MIXED,      /* dtypes that are promoted or converted */
  KW_CLASS_SPECIAL,    /* nan, inf, zeros, subnormals, extremes, ties */
  KW_CLASS_ATTRS,      /* attribute combinations */
  KW_CLASS_EXACT,      /* small integers: every partial result is exact, and so must the result be */
  KW_CLASS_EXHAUSTIVE, /* every bit pattern of 16-bit floats and 8-bit types */
  KW_CLASS_OUTPUTS,    /* strided preallocated outputs */
  KW_CLASS_ALIASING,   /* inputs that share memory */
  KW_CLASS_COUNT
} kw_case_class;
const char *kw_case_class_name(kw_case_class class);

/* One tensor: a strided view of a storage of `extent` elements, whose element i has value kw_value_make(.., i). */
typedef struct kw_case_tensor {
  kw_dtype dtype;
  kw_domain domain;
  uint32_t value_stride; /* kw_value_key.stride */
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  int64_t strides[KW_MAX_RANK];
  int64_t offset; /* elements from the start of the storage */
  int64_t numel;
  uint64_t extent;
  int share; /* argument whose storage (values included) this one uses, or -1; both have the same extent */
} kw_case_tensor;

typedef struct kw_case_arg {
  kw_value value;        /* tag NONE: not given; TENSOR: see `tensor`; lists point into `ints` */
  kw_case_tensor tensor; /* when value.tag is KW_TAG_TENSOR */
  int64_t ints[4];
  bool output; /* (a!): the same tensor as the result; its layout is kw_case.out */
} kw_case_arg;

typedef struct kw_case {
  const kw_suite_op *op;
  kw_dtype key;
  kw_case_class class;
  uint32_t number;
  char id[128];
  uint64_t hash;      /* kw_hash of id */
  uint32_t arg_count; /* arguments passed; those after it take their defaults */
  kw_case_arg args[KW_SUITE_ARGS];
  kw_case_tensor out; /* the result; a vendor's op: dtype KW_DTYPE_NONE, as only its plugin knows */
  uint32_t promoted;  /* bit i: argument i is converted to the key dtype */
  uint64_t terms;     /* KW_CMP_ACCUMULATE: terms per result element */
  bool exact;         /* the result must be the oracle's, correctly rounded */
} kw_case;

/* Makes one case. False when the class has no such number for this op and dtype: numbers count from 0 without gaps. */
bool kw_case_make(const kw_suite_op *op, kw_dtype key, kw_case_class class, uint32_t number, kw_case *out_case);

/* The same from an id, looked up among `ops`. */
bool kw_case_from_id(const char *id, const kw_suite_op *ops, uint32_t op_count, kw_case *out_case);

/* The values of argument `arg` in a run: the key for kw_value_make. */
kw_value_key kw_case_value_key(const kw_case *c, uint32_t arg, uint64_t seed, uint32_t run);

/* An argument as a caller passes it, all but tensors: u.tensor is left for the caller to fill. */
kw_value kw_case_arg_value(const kw_case *c, uint32_t arg);

/* Element offset in the storage of the `index`-th element in row-major order. */
int64_t kw_case_tensor_at(const kw_case_tensor *tensor, int64_t index);

#endif /* KEYWAY_CONFORMANCE_CASE_H */

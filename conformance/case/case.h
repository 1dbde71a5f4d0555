/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases as data: what is called, with tensors of which shapes and layouts, and what comes out. A case is a pure
 * function of its id; coordinator and worker both make it, and the values are a function of case and seed (value.h).
 */
#ifndef KEYWAY_CONFORMANCE_CASE_H
#define KEYWAY_CONFORMANCE_CASE_H

#include "case/signature.h"
#include "case/value.h"

#include <keyway/plugin.h>

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
  KW_CLASS_SIZES,      /* powers of two, one less, one, four and eight more, wherever a size is */
  KW_CLASS_COUNT,      /* of those that a run has unless it is told otherwise; below are those of --exhaustive */
  KW_CLASS_PATTERNS = KW_CLASS_COUNT, /* a block of f32's bit patterns, of an op of one tensor */
  KW_CLASS_DENSE,                     /* a block of patterns from all over f32, of an op of one tensor or several */
  KW_CLASS_END
} kw_case_class;
const char *kw_case_class_name(kw_case_class class);

/* Blocks: number b + KW_CASE_BLOCKS * f is block b of form f of the op (its attributes). In PATTERNS the blocks of a
 * form are all patterns, one after the other. */
#define KW_CASE_BLOCK_SIZE (1 << 22)
#define KW_CASE_BLOCKS 1024

#define KW_CASE_ENTRIES 18                              /* most entries of all tensor lists of a case */
#define KW_CASE_TENSORS (KW_MAX_ARGS + KW_CASE_ENTRIES) /* see kw_case.tensors */

typedef struct kw_shape {
  uint32_t rank;
  int64_t dims[KW_MAX_RANK];
} kw_shape;

/* One tensor: a strided view of a storage of `extent` elements, whose element i has value kw_value_make(.., i). */
typedef struct kw_case_tensor {
  bool given; /* false: no such argument, or an absent entry of a list; the rest is zero then */
  kw_dtype dtype;
  kw_domain domain;
  uint32_t value_stride; /* kw_value_key.stride */
  int64_t limit;         /* kw_value_key.limit */
  bool from_end;         /* kw_value_key.from_end */
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  int64_t strides[KW_MAX_RANK];
  int64_t offset; /* elements from the start of the storage */
  int64_t numel;
  uint64_t extent;
  int share;   /* tensor of the case whose storage (values included) this one uses, or -1; both have the same extent */
  bool output; /* (a!): the same tensor as result `result`; its layout is kw_case.outs[result] */
  bool read;   /* output: what it holds before counts, too; otherwise that is poison */
  uint32_t result; /* output: its index in kw_case.outs */
} kw_case_tensor;

typedef struct kw_case_arg {
  kw_value value; /* tag NONE: not given; TENSOR, TENSOR_LIST: see kw_case.tensors; INT_LIST: see `ints` */
  int64_t ints[KW_MAX_RANK];
  uint32_t first; /* TENSOR_LIST: where its value.count entries start in kw_case.tensors */
} kw_case_arg;

typedef struct kw_case {
  const kw_suite_op *op;
  kw_dtype key;
  kw_case_class class;
  uint32_t number;
  char id[256];
  uint64_t hash;      /* kw_hash of id */
  kw_shape sizes;     /* what it is made from, of the same rank in all its shrunken variants */
  bool resizable;     /* whether it has shrunken variants: its generator called kw_case_resize */
  bool shrunk;        /* it is one */
  uint64_t sweep;     /* of a case of the class SIZES: what its sizes are drawn from; 0: of another class */
  uint32_t arg_count; /* arguments passed; those after it take their defaults */
  kw_case_arg args[KW_MAX_ARGS];
  kw_case_tensor tensors[KW_CASE_TENSORS]; /* [i]: argument i; from KW_MAX_ARGS on: entries of lists */
  uint32_t entry_count;                    /* of all lists */
  uint32_t result_count;                   /* of `outs`: the op's results, behind them the changed tensors that are no
                                              results, each entry of a list */
  kw_case_tensor outs[KW_SUITE_RESULTS];   /* not `given` where output_mask leaves one out; not used for a vendor's op:
                                              only its plugin knows */
  kw_op_bound bounds[KW_SUITE_RESULTS];    /* how each is judged: the op table's, unless the generator changes it */
  uint64_t promoted;                       /* bit i: tensor i is converted to the key dtype */
  uint64_t terms;                          /* KW_CMP_ACCUMULATE: terms per result element */
  int64_t scan_step; /* scans: how many elements lie between neighbours along the scanned dimension; the first
                        has 1 term, the last `terms`. 0: no scan */
  bool exact;        /* the results must be the oracle's, correctly rounded */
} kw_case;

/* The values of tensor `tensor` (an index into kw_case.tensors) in a run: the key for kw_value_make. */
kw_value_key kw_case_value_key(const kw_case *c, uint32_t tensor, uint64_t seed, uint32_t run);

/* Of a random op: the state of its generator before each call in a run, where the carry of a block's number into its
 * high word, and past its end, comes up; and how many blocks a call takes. All zero for other ops. */
kw_rng kw_case_rng(const kw_case *c, uint64_t seed, uint32_t run);
uint64_t kw_case_rng_blocks(const kw_case *c);

/* Writes the values of a tensor into its storage (extent elements): those that the layout names, `all`: every one. */
void kw_case_fill(const kw_case *c, uint32_t tensor, uint64_t seed, uint32_t run, bool all, void *out_storage);

/* True when another tensor uses the storage of this one. */
bool kw_case_is_shared(const kw_case *c, uint32_t tensor);

/* What a message calls a tensor: "input 2", "entry 1 of input 0"; and one of `outs`: "output 1", "argument found_inf",
 * "entry 1 of argument exp_avgs". */
void kw_case_tensor_name(const kw_case *c, uint32_t tensor, char *out_text, size_t size);
void kw_case_out_name(const kw_case *c, uint32_t result, char *out_text, size_t size);

/* An argument as a caller passes it, all but tensors: u.tensor and u.tensors are left for the caller to fill. */
kw_value kw_case_arg_value(const kw_case *c, uint32_t arg);

/* A Scalar's absolute value, for computing what the terms of a sum add up to; any other value as it is. */
kw_value kw_case_absolute(kw_value value);

/* "f32 [2, 3]". */
void kw_case_print_shape(kw_dtype dtype, uint32_t rank, const int64_t *shape, char *out_text, size_t size);

/* Element offset in the storage of the `index`-th element in row-major order. */
int64_t kw_case_tensor_at(const kw_case_tensor *tensor, int64_t index);

/* The same one after the other: for (start; i < numel; i++, kw_case_walk_next) with walk.at. */
typedef struct kw_case_walk {
  const kw_case_tensor *tensor;
  int64_t at;
  int64_t index[KW_MAX_RANK];
} kw_case_walk;
kw_case_walk kw_case_walk_start(const kw_case_tensor *tensor);
void kw_case_walk_next(kw_case_walk *walk);

#endif /* KEYWAY_CONFORMANCE_CASE_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * From the arguments of a call to its results.
 */
#ifndef KEYWAY_CORE_INFER_H
#define KEYWAY_CORE_INFER_H

#include "op/op.h"

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

/* Checks dtypes and shapes of normalised arguments and infers the results. Pure. */
kw_status kw_infer(const kw_op *op, const kw_value *args, kw_inference *out_inference);

#endif /* KEYWAY_CORE_INFER_H */

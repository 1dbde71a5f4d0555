/* SPDX-License-Identifier: Apache-2.0
 *
 * Walking several strided tensors in step, in row-major order of one shape.
 */
#ifndef KEYWAY_REFERENCE_WALK_H
#define KEYWAY_REFERENCE_WALK_H

#include "reference.h"

#define KW_WALK_TENSORS 8

/* at[t] is the current element of tensor t. An element that does not exist is never pointed at. */
typedef struct kw_walk {
  uint32_t rank;
  uint32_t tensors;
  int64_t left; /* elements from the current one to the end, the current one included */
  int64_t shape[KW_MAX_RANK];
  int64_t index[KW_MAX_RANK]; /* steps taken in each dimension */
  char *at[KW_WALK_TENSORS];
  int64_t step[KW_WALK_TENSORS][KW_MAX_RANK]; /* bytes */
} kw_walk;

/* The address of element (0, 0, ...). */
char *kw_walk_base(const kw_tensor_ref *tensor);

/* The shape that tensors broadcast to, and its rank; NULL entries do not count. */
uint32_t kw_walk_join(const kw_tensor_ref *const *tensors, uint32_t count, int64_t out_shape[KW_MAX_RANK]);

/* A walk over `shape`. Each tensor is added with kw_walk_add. */
void kw_walk_start(kw_walk *walk, uint32_t rank, const int64_t *shape);
/* Adds a tensor that broadcasts to the walk's shape: aligned at the last dimension, size 1 repeats. At most
 * KW_WALK_TENSORS. */
void kw_walk_add(kw_walk *walk, const kw_tensor_ref *tensor);
/* Adds one value that repeats everywhere; `value` stays the caller's. */
void kw_walk_add_constant(kw_walk *walk, const void *value);
/* Turns the walk round: it starts at the last element and ends at the first. After the last kw_walk_add. */
void kw_walk_reverse(kw_walk *walk);
/* Goes to the next element. The loop is: for (start; walk.left > 0; kw_walk_next(&walk)). */
void kw_walk_next(kw_walk *walk);

#endif /* KEYWAY_REFERENCE_WALK_H */

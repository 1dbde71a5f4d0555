/* SPDX-License-Identifier: Apache-2.0
 *
 * Index tensors, and the offsets of the elements that they name.
 */
#ifndef KEYWAY_GPU_INDEX_H
#define KEYWAY_GPU_INDEX_H

#include "lower/plan.h"

#include "kernels/index_row.kw"

/* Indices along one dimension. */
typedef struct kw_gpu_index {
  kw_gpu_tensor tensor; /* i64 or i32 */
  uint32_t argument;    /* the argument that an error names */
  int64_t size, step;   /* of the dimension */
  int64_t skip;         /* an index whose offset is -1 without being an error, or -1; for kw_gpu_index_offsets */
  int32_t flags;        /* KW_INDEX_FROM_END, KW_INDEX_FURTHER */
} kw_gpu_index;

/* Fills `offsets`, i64 of the index's shape: the element's offset under the strides `base` (NULL: 0) + index * step; -1
 * where the index is out of range, which is an error of the data. The kernel of the op has KW_KERNEL_DATA_ERRORS. */
void kw_gpu_index_offsets(kw_gpu_plan *plan, const kw_gpu_tensor *offsets, const kw_gpu_index *index,
                          const int64_t *base);

/* A temporary with the offsets that `index`, argument number `argument`, names along dimension `dim` of a contiguous
 * tensor of `table`'s shape, as in gather and scatter. */
kw_gpu_tensor kw_gpu_index_offsets_along(kw_gpu_plan *plan, const kw_gpu_tensor *index, uint32_t argument,
                                         const kw_gpu_tensor *table, uint32_t dim);

/* Which of several writes to one element stays, the last: u32 [count], for each element the number of that write among
 * `offsets`, row-major, + 1. Refuses 2^32 - 1 offsets and more. */
kw_gpu_tensor kw_gpu_owners(kw_gpu_plan *plan, const kw_gpu_tensor *offsets, int64_t count);

/* Values of a step that looks at indices in its kernel: size, step, flags, argument and error code. Its operand
 * kw_gpu_step_errors comes before them. */
void kw_gpu_step_index(kw_gpu_step *step, const kw_gpu_index *index);

#endif /* KEYWAY_GPU_INDEX_H */

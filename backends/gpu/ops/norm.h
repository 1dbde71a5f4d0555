/* SPDX-License-Identifier: Apache-2.0
 *
 * What normalisations and their backwards share: which elements belong together, and launches over rows of them.
 */
#ifndef KEYWAY_GPU_NORM_H
#define KEYWAY_GPU_NORM_H

#include "lower/plan.h"

#include "kernels/norm_args.kw"

/* Which elements of the input are normalised together. */
typedef struct kw_gpu_norm_layout {
  int64_t groups;   /* dimension 1 is seen as [groups, size / groups]; 0: as it is */
  uint32_t outer;   /* the dimensions that number the rows, a mask */
  uint32_t weights; /* those that weight and bias have */
} kw_gpu_norm_layout;

kw_gpu_norm_layout kw_gpu_norm_last_dims(const kw_gpu_tensor *in, uint32_t count);
kw_gpu_norm_layout kw_gpu_norm_channels(void);
kw_gpu_norm_layout kw_gpu_norm_groups(int64_t groups);

/* Tensors as the layout sees the input, with a stride of 0 for each dimension that they lack: the input and what is
 * like it; weights; contiguous statistics, one for each row. */
kw_tensor_ref kw_gpu_norm_like(const kw_gpu_norm_layout *layout, const kw_gpu_tensor *tensor);
kw_tensor_ref kw_gpu_norm_weight(const kw_gpu_norm_layout *layout, const kw_gpu_tensor *weight,
                                 const kw_tensor_ref *view);
kw_tensor_ref kw_gpu_norm_statistic(const kw_gpu_norm_layout *layout, const kw_tensor_ref *view);

/* The block of the rows that the dimensions `outer` of `view` number. `operands` are views like it, NULL for none. */
void kw_gpu_norm_block(const kw_tensor_ref *view, uint32_t outer, const kw_tensor_ref *const operands[KW_NORM_STRIDED],
                       kw_norm *out_block);

/* A launch of `phases` of the block's rows. */
typedef void (*kw_gpu_norm_launch)(kw_gpu_plan *plan, const void *task, const kw_norm *block, int32_t phases,
                                   const kw_gpu_tensor *partial);

/* Whether a device that computes in vectors can take the rows line by line: elements of the innermost dimension lie
 * side by side in the operands of the set `along`, and in the others too or are one, and the rows are not too long. */
bool kw_gpu_norm_has_lines(const kw_gpu_plan *plan, const kw_norm *block, uint32_t along);

/* The launches that do the phases of `statistics` one after the other, then `apply` (0: nothing): one, or where a row
 * has many elements several, with `width` partial results of each group between them. */
void kw_gpu_norm_run(kw_gpu_plan *plan, const kw_norm *block, int32_t statistics, int32_t apply, kw_dtype partial,
                     int64_t width, kw_gpu_norm_launch launch, const void *task);

/* `flag` where the tensor has not the dtype that the program is for, but the compute type. */
int32_t kw_gpu_norm_wide(const kw_gpu_tensor *tensor, kw_dtype key, int32_t flag);

#endif /* KEYWAY_GPU_NORM_H */

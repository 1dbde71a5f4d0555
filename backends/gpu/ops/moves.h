/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills as steps, and contiguous stand-ins for tensors of any strides that are made of them.
 */
#ifndef KEYWAY_GPU_MOVES_H
#define KEYWAY_GPU_MOVES_H

#include "lower/plan.h"

/* Copies, converting as copy_ does; `from` broadcasts by strides of 0 and has the shape of `to`. */
void kw_gpu_copy(kw_gpu_plan *plan, const kw_gpu_tensor *to, const kw_gpu_tensor *from);
/* The integer of so many bytes, which is moved in place of what has that size; KW_DTYPE_NONE where there is none. */
kw_dtype kw_gpu_moved_dtype(uint32_t size);
/* Sets every element to the number. */
void kw_gpu_fill(kw_gpu_plan *plan, const kw_gpu_tensor *to, double value);

/* The tensor itself when it is contiguous and of that dtype, otherwise a temporary that a step copies it to. */
kw_gpu_tensor kw_gpu_contiguous(kw_gpu_plan *plan, const kw_gpu_tensor *tensor, kw_dtype dtype);
/* Where steps write a result: the tensor itself when it is contiguous and of that dtype, otherwise a temporary. After
 * them comes kw_gpu_deliver, which copies a temporary to the tensor; it does nothing for a tensor that is absent. */
kw_gpu_tensor kw_gpu_staging(kw_gpu_plan *plan, const kw_gpu_tensor *tensor, kw_dtype dtype);
void kw_gpu_deliver(kw_gpu_plan *plan, const kw_gpu_tensor *staging, const kw_gpu_tensor *tensor);

#endif /* KEYWAY_GPU_MOVES_H */

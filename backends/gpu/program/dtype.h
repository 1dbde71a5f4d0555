/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels know of a dtype: the size of its elements, and the dtype that they compute it in.
 */
#ifndef KEYWAY_GPU_DTYPE_H
#define KEYWAY_GPU_DTYPE_H

#include <keyway/types.h>

/* Bytes of one element. */
uint32_t kw_gpu_dtype_size(kw_dtype dtype);
/* The dtype that a dtype computes in: i32, i64, f32 or f64. */
kw_dtype kw_gpu_compute_dtype(kw_dtype dtype);

#endif /* KEYWAY_GPU_DTYPE_H */

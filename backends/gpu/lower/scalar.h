/* SPDX-License-Identifier: Apache-2.0
 *
 * Scalars of a call, as kernels and buffers take them.
 */
#ifndef KEYWAY_GPU_SCALAR_H
#define KEYWAY_GPU_SCALAR_H

#include <keyway/plugin.h>

/* A Scalar as an element of `dtype`: one rounding for floating point; integers wrap, and saturate from floating point.
 * KW_ERR_NOT_IMPLEMENTED for a complex number in a real dtype. Writes kw_gpu_dtype_size(dtype) bytes. */
kw_status kw_gpu_scalar_store(const kw_value *value, kw_dtype dtype, void *out_bits);

/* A Scalar operand of a kernel specialised by `dtype`, in its compute dtype. Integers have wrapped to `dtype` first;
 * floating point keeps the precision of the compute dtype. Writes at most 8 bytes, *out_size of them. */
kw_status kw_gpu_scalar_operand(const kw_value *value, kw_dtype dtype, void *out_bits, uint32_t *out_size);

#endif /* KEYWAY_GPU_SCALAR_H */

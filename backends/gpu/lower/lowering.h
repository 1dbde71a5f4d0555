/* SPDX-License-Identifier: Apache-2.0
 *
 * From tensors to the kernels' argument blocks: fewer dimensions, in an order that is good for memory. Offsets are left
 * at 0: they come with the buffers, at launch.
 */
#ifndef KEYWAY_GPU_LOWERING_H
#define KEYWAY_GPU_LOWERING_H

#include "lower/dialect.h"
#include "program/program.h"

/* operands[0] is the output and gives the shape; the others have it too (stride 0 where they repeat), or are NULL and
 * get stride 0. Dimensions of one element go, the rest is ordered by the output's strides, and neighbours that all
 * operands step through evenly become one. */
void kw_gpu_lower_elementwise(const kw_tensor_ref *const *operands, uint32_t count, kw_elementwise *out_block);
/* The same, but elements keep their numbers: row-major, whatever the strides. */
void kw_gpu_lower_ordered(const kw_tensor_ref *const *operands, uint32_t count, kw_elementwise *out_block);

/* How many items an element-wise kernel of the module takes for so many elements. */
int64_t kw_gpu_items(const kw_gpu_device *device, const kw_gpu_module *module, kw_dtype dtype, int64_t numel);

/* The dimensions of a block of its own, for up to KW_GPU_LOWER_OPERANDS operands in any order: room for KW_GPU_RANK, as
 * many as it returns are set, at least one. */
#define KW_GPU_LOWER_OPERANDS 5
uint32_t kw_gpu_lower_dims(const kw_tensor_ref *const *operands, uint32_t count, kw_i64 *out_shape,
                           kw_i64 (*out_stride)[KW_GPU_RANK]);

/* `reduced` has bit d set for each dimension d of `in` that is reduced. `out` has the remaining dimensions in order,
 * with or without kept dimensions of one element. With `ordered`, elements of the reduced dimensions stay numbered in
 * row-major order of `in` (argmax); otherwise their order is free. Sets everything but the partial-result fields
 * and lanes: chunks is 1, chunk and count are inner_numel. */
void kw_gpu_lower_reduction(const kw_tensor_ref *out, const kw_tensor_ref *in, uint32_t reduced, bool ordered,
                            kw_reduction *out_block);

#endif /* KEYWAY_GPU_LOWERING_H */

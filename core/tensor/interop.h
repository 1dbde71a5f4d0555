/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors on memory that others made.
 */
#ifndef KEYWAY_CORE_INTEROP_H
#define KEYWAY_CORE_INTEROP_H

#include "tensor/tensor.h"

/* A tensor as described, from the first byte of `memory` on, which has all its fields. dtype, rank, shape and strides
 * are trusted, but for reaching past the memory. On failure the deleter is not called. */
kw_status kw_tensor_on_import(kw_device *device, const kw_external_memory *memory, kw_deleter deleter, void *user,
                              kw_dtype dtype, uint32_t rank, const int64_t *shape, const int64_t *strides,
                              kw_tensor **out_tensor);

#endif /* KEYWAY_CORE_INTEROP_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of whole tensors.
 */
#ifndef KEYWAY_CORE_TRANSFER_H
#define KEYWAY_CORE_TRANSFER_H

#include "tensor/tensor.h"

/* KW_ERR_BUSY for the result of a graph that is being recorded, which has no contents yet. */
kw_status kw_tensor_check_contents(const char *function, const kw_tensor *tensor);

/* dst and src have the same dtype and numel, are contiguous, and may lie on different devices; `stream` belongs to one
 * of them. On one device: its copy slot on `stream`; otherwise staged through host memory, waiting (the other device's
 * part on its default stream). */
kw_status kw_tensor_copy_contiguous(kw_tensor *dst, const kw_tensor *src, kw_stream *stream);

/* dst and src have the same dtype and shape, whatever their strides and devices. Waits for the default streams of both;
 * `function` is named in errors. */
kw_status kw_tensor_copy_through_host(const char *function, kw_tensor *dst, const kw_tensor *src);

#endif /* KEYWAY_CORE_TRANSFER_H */

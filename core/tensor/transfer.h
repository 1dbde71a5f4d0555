/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of whole tensors.
 */
#ifndef KEYWAY_CORE_TRANSFER_H
#define KEYWAY_CORE_TRANSFER_H

#include "tensor/tensor.h"

/* KW_ERR_BUSY for the result of a graph that is being recorded, which has no contents yet. */
kw_status kw_tensor_check_contents(const char *function, const kw_tensor *tensor);

/* KW_ERR_INVALID_ARGUMENT for a tensor in memory that was imported read-only. */
kw_status kw_tensor_check_writable(const char *function, const kw_tensor *tensor);

/* KW_ERR_INVALID_ARGUMENT for a tensor that is not contiguous; `advice`, a sentence, says what to do then. */
kw_status kw_tensor_check_contiguous(const char *function, const kw_tensor *tensor, const char *advice);

/* dst and src have the same dtype and numel, are contiguous, and may lie on different devices; `stream` belongs to one
 * of them. On one device: its copy slot on `stream`; otherwise staged through host memory, waiting (the other device's
 * part on its default stream). */
kw_status kw_tensor_copy_contiguous(kw_tensor *dst, const kw_tensor *src, kw_stream *stream);

/* The same between two devices, each on a stream of its own; waits for both. */
kw_status kw_tensor_copy_between(kw_tensor *dst, const kw_tensor *src, kw_stream *from, kw_stream *to);

/* Whether the plugin of both may know how to copy from one to the other, and doing so on `to`, a stream of dst's
 * device, without waiting for anything. False: it says that these two cannot reach each other, and nothing has been
 * enqueued. */
bool kw_tensor_may_copy_peer(const kw_tensor *dst, const kw_tensor *src);
bool kw_tensor_enqueue_peer_copy(kw_tensor *dst, const kw_tensor *src, kw_stream *to, kw_status *out_status);

/* dst and src have the same dtype and shape, whatever their strides and devices. Waits for the default streams of both;
 * `function` is named in errors. */
kw_status kw_tensor_copy_through_host(const char *function, kw_tensor *dst, const kw_tensor *src);

#endif /* KEYWAY_CORE_TRANSFER_H */

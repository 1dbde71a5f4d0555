/* SPDX-License-Identifier: Apache-2.0
 *
 * Data between host and device, and between devices, with no more than the plugin's contiguous copy.
 *
 * A strided tensor is read by copying all bytes from its first to past its last element and picking on the host; it is
 * written by reading these bytes, changing its own among them, and writing all of them back. That costs the extent, not
 * numel, and a write to the gaps by another stream at the same time may be undone.
 */
#include "tensor/transfer.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/overlap.h"
#include "base/trace.h"
#include "device/constant.h"
#include "device/copy.h"
#include "device/host_memory.h"
#include "device/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `offset` is absolute in the buffer's mem. */
static kw_status copy_in(kw_buffer *buffer, uint64_t offset, const void *host, uint64_t size, kw_stream *stream) {
  kw_buffer_change(buffer, stream);
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_HOST_TO_DEVICE,
                       .dst_mem = buffer->mem,
                       .dst_offset = offset,
                       .src_host = host,
                       .size = size};
  return kw_copy_enqueue(stream, &copy);
}

static kw_status copy_out(kw_buffer *buffer, uint64_t offset, void *host, uint64_t size, kw_stream *stream) {
  kw_buffer_use(buffer, stream);
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_DEVICE_TO_HOST,
                       .dst_host = host,
                       .src_mem = buffer->mem,
                       .src_offset = offset,
                       .size = size};
  return kw_copy_enqueue(stream, &copy);
}

static kw_status no_host_memory(const char *function, uint64_t size) {
  return kw_fail(KW_ERR_OUT_OF_MEMORY,
                 "%s: the host is out of memory: %" PRIu64 " bytes for staging. Copy smaller pieces.", function, size);
}

kw_status kw_tensor_check_contents(const char *function, const kw_tensor *tensor) {
  const uint64_t graph = tensor->buffer->graph;
  if (graph == 0 || atomic_load(&atomic_load(&tensor->buffer->stream)->recording_graph) != graph) return KW_OK;
  return kw_fail(
      KW_ERR_BUSY,
      "%s: the tensor is a result of a graph that is being recorded: it has contents once the graph has been "
      "launched. End the recording first (kw_graph_end).",
      function);
}

static kw_status check(const char *function, const kw_tensor *tensor, const void *host) {
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status != KW_OK) return status;
  if (host == NULL && tensor->ref.numel > 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument host is NULL.", function);
  }
  status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(tensor->device);
  return status == KW_OK ? kw_tensor_check_contents(function, tensor) : status;
}

/* ---- Strided on the host ----------------------------------------------------------------------------------------- */

/* Moves the tensor's elements between `extent`, which holds the bytes from its first to past its last element, and
 * `packed`, where they lie in row-major order. */
static void move_strided(const kw_tensor_ref *ref, char *extent, char *packed, bool to_packed) {
  size_t item = kw_dtype_size(ref->dtype);
  /* Innermost dimensions without gaps move in one piece. */
  uint32_t outer = ref->rank;
  size_t run = item;
  for (int64_t stride = 1; outer > 0 && (ref->shape[outer - 1] == 1 || ref->strides[outer - 1] == stride); --outer) {
    stride *= ref->shape[outer - 1];
    run = item * (size_t)stride;
  }
  int64_t index[KW_MAX_RANK] = {0};
  for (size_t place = 0;;) {
    if (to_packed) {
      memcpy(packed, extent + place, run);
    } else {
      memcpy(extent + place, packed, run);
    }
    packed += run;
    uint32_t d = outer;
    for (; d > 0; --d) {
      size_t step = item * (size_t)ref->strides[d - 1];
      if (++index[d - 1] < ref->shape[d - 1]) {
        place += step;
        break;
      }
      place -= step * (size_t)(index[d - 1] - 1);
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

/* The tensor's extent in fresh host memory; waits. */
static kw_status read_extent(const char *function, const kw_tensor *tensor, kw_stream *stream,
                             kw_host_memory **out_extent) {
  uint64_t size = kw_ref_extent(&tensor->ref);
  kw_host_memory *extent = kw_host_memory_take(size);
  if (extent == NULL) return no_host_memory(function, size);
  bool passed = false;
  kw_status status = copy_out(tensor->buffer, tensor->ref.offset, extent->bytes, size, stream);
  if (status == KW_OK) status = kw_stream_wait(function, stream, &passed);
  if (status == KW_OK) {
    *out_extent = extent;
  } else {
    kw_host_memory_give(stream, extent, passed);
  }
  return status;
}

/* ---- Host and device --------------------------------------------------------------------------------------------- */

/* May the device's default stream be waited for? */
static kw_status check_waits(const char *function, const kw_tensor *tensor, const void *host) {
  kw_status status = check(function, tensor, host);
  if (status == KW_OK) status = kw_stream_may_wait(function);
  return status == KW_OK ? kw_stream_may_not_record(function, tensor->device->default_stream) : status;
}

kw_status kw_tensor_check_writable(const char *function, const kw_tensor *tensor) {
  if (!kw_tensor_bars_writing(tensor)) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT,
                 "%s: the tensor lies in memory that was imported read-only (a mapped file?). Write to another tensor.",
                 function);
}

kw_status kw_tensor_check_contiguous(const char *function, const kw_tensor *tensor, const char *advice) {
  if (kw_ref_is_contiguous(&tensor->ref)) return KW_OK;
  char text[256];
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument tensor, %s, is not contiguous. %s", function,
                 kw_ref_describe(&tensor->ref, text, sizeof text), advice);
}

/* A wait that ends at a limit leaves copies behind, which must not touch the caller's memory any more: then they go
 * through memory of our own. *out_own is NULL where there is no limit. */
static kw_status take_own(const char *function, const kw_tensor *tensor, kw_host_memory **out_own) {
  const uint64_t size = kw_ref_bytes(&tensor->ref);
  const bool limited = kw_wait_limit(tensor->device) != KW_WAIT_FOREVER;
  *out_own = limited ? kw_host_memory_take(size) : NULL;
  return limited && *out_own == NULL ? no_host_memory(function, size) : KW_OK;
}

/* Elements in row-major order from host memory. *out_passed: no enqueued copy touches that any more. */
static kw_status write_from(const char *function, kw_tensor *tensor, const void *host, bool *out_passed) {
  *out_passed = true;
  kw_status status = check_waits(function, tensor, host);
  if (status == KW_OK) status = kw_tensor_check_writable(function, tensor);
  if (status != KW_OK || tensor->ref.numel == 0) return status;
  const kw_tensor_ref *ref = &tensor->ref;
  kw_stream *stream = tensor->device->default_stream;
  kw_host_memory *own = NULL; /* that is copied from, if it is not the caller's */
  bool passed = false;
  if (kw_ref_is_contiguous(ref)) {
    status = take_own(function, tensor, &own);
    if (status != KW_OK) return status;
    if (own != NULL) memcpy(own->bytes, host, kw_ref_bytes(ref));
    status = copy_in(tensor->buffer, ref->offset, own != NULL ? own->bytes : host, kw_ref_bytes(ref), stream);
  } else if (kw_ref_overlaps_itself(ref)) {
    char text[256];
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: several elements of %s share one place in memory, as after expand. Write to the tensor it was "
                   "made from.",
                   function, kw_ref_describe(ref, text, sizeof text));
  } else {
    status = read_extent(function, tensor, stream, &own);
    if (status != KW_OK) return status;
    move_strided(ref, own->bytes, (char *)(uintptr_t)host, false);
    status = copy_in(tensor->buffer, ref->offset, own->bytes, kw_ref_extent(ref), stream);
  }
  if (status == KW_OK) status = kw_stream_wait(function, stream, &passed);
  if (own == NULL) *out_passed = passed;
  kw_host_memory_give(stream, own, passed);
  return status;
}

/* The same the other way. */
static kw_status read_into(const char *function, const kw_tensor *tensor, void *host, bool *out_passed) {
  *out_passed = true;
  kw_status status = check_waits(function, tensor, host);
  if (status != KW_OK || tensor->ref.numel == 0) return status;
  const kw_tensor_ref *ref = &tensor->ref;
  kw_stream *stream = tensor->device->default_stream;
  if (kw_ref_is_contiguous(ref)) {
    kw_host_memory *own;
    bool passed = false;
    status = take_own(function, tensor, &own);
    if (status != KW_OK) return status;
    status = copy_out(tensor->buffer, ref->offset, own != NULL ? own->bytes : host, kw_ref_bytes(ref), stream);
    if (status == KW_OK) status = kw_stream_wait(function, stream, &passed);
    if (own == NULL) *out_passed = passed;
    if (own != NULL && passed) memcpy(host, own->bytes, kw_ref_bytes(ref));
    kw_host_memory_give(stream, own, passed);
    return status;
  }
  kw_host_memory *extent;
  status = read_extent(function, tensor, stream, &extent);
  if (status != KW_OK) return status;
  move_strided(ref, extent->bytes, host, true);
  kw_host_memory_give(stream, extent, true);
  return KW_OK;
}

kw_status kw_tensor_write(kw_tensor *tensor, const void *host) {
  bool passed;
  return write_from("kw_tensor_write", tensor, host, &passed);
}

kw_status kw_tensor_read(const kw_tensor *tensor, void *host) {
  bool passed;
  return read_into("kw_tensor_read", tensor, host, &passed);
}

static kw_status check_async(const char *function, const kw_tensor *tensor, const void *host, kw_stream **stream) {
  kw_status status = check(function, tensor, host);
  if (status == KW_OK) status = kw_stream_resolve(function, tensor->device, *stream, stream);
  if (status == KW_OK) status = kw_stream_may_not_record(function, *stream);
  if (status != KW_OK) return status;
  return kw_tensor_check_contiguous(function, tensor,
                                    "Use the function without _async, or copy it to a contiguous one first.");
}

kw_status kw_tensor_write_async(kw_tensor *tensor, const void *host, kw_stream *stream) {
  kw_status status = check_async("kw_tensor_write_async", tensor, host, &stream);
  if (status == KW_OK) status = kw_tensor_check_writable("kw_tensor_write_async", tensor);
  if (status != KW_OK || tensor->ref.numel == 0) return status;
  return copy_in(tensor->buffer, tensor->ref.offset, host, kw_ref_bytes(&tensor->ref), stream);
}

kw_status kw_tensor_read_async(const kw_tensor *tensor, void *host, kw_stream *stream) {
  kw_status status = check_async("kw_tensor_read_async", tensor, host, &stream);
  if (status != KW_OK || tensor->ref.numel == 0) return status;
  return copy_out(tensor->buffer, tensor->ref.offset, host, kw_ref_bytes(&tensor->ref), stream);
}

/* ---- Device and device ------------------------------------------------------------------------------------------- */

static kw_copy_info contiguous_copy(const kw_tensor *dst, const kw_tensor *src) {
  return (kw_copy_info){.struct_size = sizeof(kw_copy_info),
                        .kind = KW_COPY_DEVICE_TO_DEVICE,
                        .dst_mem = dst->buffer->mem,
                        .dst_offset = dst->ref.offset,
                        .src_mem = src->buffer->mem,
                        .src_offset = src->ref.offset,
                        .size = kw_ref_bytes(&src->ref)};
}

/* Piece by piece through host memory, which is that of the device that has such. It belongs to the stream that had it
 * last: a device's piece goes back to that device when both streams have passed. */
static kw_status copy_staged(kw_tensor *dst, const kw_tensor *src, kw_stream *from, kw_stream *to) {
  static const char function[] = "copying between devices";
  uint64_t size = kw_ref_bytes(&src->ref);
  kw_device *device = dst->device->plugin->native & KW_NATIVE_HOST_MEMORY ? dst->device : src->device;
  kw_host_memory *staging = kw_staging_take(device);
  if (staging == NULL) return no_host_memory(function, KW_STAGING_SIZE);
  kw_stream *last = from;
  bool passed = true;
  kw_status status = KW_OK;
  for (uint64_t done = 0, piece; done < size && status == KW_OK; done += piece) {
    piece = size - done < KW_STAGING_SIZE ? size - done : KW_STAGING_SIZE;
    for (int way = 0; way < 2 && status == KW_OK; ++way) {
      last = way == 0 ? from : to;
      status = way == 0 ? copy_out(src->buffer, src->ref.offset + done, staging->bytes, piece, from)
                        : copy_in(dst->buffer, dst->ref.offset + done, staging->bytes, piece, to);
      passed = false;
      if (status == KW_OK) status = kw_stream_wait(function, last, &passed);
    }
  }
  kw_host_memory_give(last, staging, passed);
  return status;
}

bool kw_tensor_may_copy_peer(const kw_tensor *dst, const kw_tensor *src) {
  const kw_plugin *plugin = dst->device->plugin;
  return src->device->plugin == plugin && (plugin->native & KW_NATIVE_PEER_COPY);
}

bool kw_tensor_enqueue_peer_copy(kw_tensor *dst, const kw_tensor *src, kw_stream *to, kw_status *out_status) {
  kw_device *device = dst->device;
  const kw_copy_info copy = contiguous_copy(dst, src);
  kw_buffer_change(dst->buffer, to);
  uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, memory.copy_peer, device->handle, to->handle, src->device->handle, &copy);
  kw_trace_stream_span("copy", "peer to device", device->name, begin, to->token, 0);
  if (status == KW_ERR_UNSUPPORTED) return false;
  if (status != KW_OK) {
    status = kw_device_mark_if_lost(device, kw_from_plugin(status, "copying %" PRIu64 " bytes from %s to %s", copy.size,
                                                           src->device->name, device->name));
  }
  *out_status = status;
  return true;
}

kw_status kw_tensor_copy_between(kw_tensor *dst, const kw_tensor *src, kw_stream *from, kw_stream *to) {
  kw_status status = kw_stream_may_wait("copying between devices");
  if (status == KW_OK && kw_tensor_may_copy_peer(dst, src)) {
    status = kw_stream_synchronize(from);
    if (status != KW_OK) return status;
    if (kw_tensor_enqueue_peer_copy(dst, src, to, &status)) {
      return status == KW_OK ? kw_stream_synchronize(to) : status;
    }
  }
  return status == KW_OK ? copy_staged(dst, src, from, to) : status;
}

kw_status kw_tensor_copy_contiguous(kw_tensor *dst, const kw_tensor *src, kw_stream *stream) {
  if (src->ref.numel == 0) return KW_OK;
  if (dst->device != src->device) {
    return kw_tensor_copy_between(dst, src, stream->device == src->device ? stream : src->device->default_stream,
                                  stream->device == dst->device ? stream : dst->device->default_stream);
  }
  kw_buffer_change(dst->buffer, stream);
  kw_buffer_use(src->buffer, stream);
  const kw_copy_info copy = contiguous_copy(dst, src);
  return kw_copy_enqueue(stream, &copy);
}

/* Both are read and written as kw_tensor_read and _write do it, with the packed elements in memory of our own. */
kw_status kw_tensor_copy_through_host(const char *function, kw_tensor *dst, const kw_tensor *src) {
  if (src->ref.numel == 0) return KW_OK;
  kw_stream *from = src->device->default_stream, *to = dst->device->default_stream;
  kw_host_memory *packed = kw_host_memory_take(kw_ref_bytes(&src->ref));
  if (packed == NULL) return no_host_memory(function, kw_ref_bytes(&src->ref));
  bool passed = true;
  kw_status status = read_into(function, src, packed->bytes, &passed);
  if (status != KW_OK) {
    kw_host_memory_give(from, packed, passed);
    return status;
  }
  status = write_from(function, dst, packed->bytes, &passed);
  kw_host_memory_give(to, packed, passed);
  return status;
}

kw_status kw_tensor_to(const kw_tensor *tensor, kw_device *device, kw_tensor **out_tensor) {
  static const char function[] = "kw_tensor_to";
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status != KW_OK) return status;
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument device is NULL.", function);
  if (out_tensor == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument out_tensor is NULL.", function);
  status = kw_device_check(tensor->device);
  if (status == KW_OK) status = kw_tensor_check_contents(function, tensor);
  if (status == KW_OK) status = kw_stream_may_wait(function);
  if (status == KW_OK) status = kw_stream_may_not_record(function, tensor->device->default_stream);
  if (status == KW_OK) status = kw_stream_may_not_record(function, device->default_stream);
  if (status != KW_OK) return status;
  kw_tensor *copy;
  status = kw_tensor_create(device, tensor->ref.dtype, tensor->ref.rank, tensor->ref.shape, &copy);
  if (status != KW_OK) return status;
  if (tensor->ref.numel > 0 && !kw_ref_is_contiguous(&tensor->ref)) {
    status = kw_tensor_copy_through_host(function, copy, tensor);
  } else {
    status = kw_tensor_copy_contiguous(copy, tensor, device->default_stream);
    if (status == KW_OK) status = kw_stream_synchronize(device->default_stream);
  }
  if (status == KW_OK) {
    *out_tensor = copy;
  } else {
    kw_tensor_release(copy);
  }
  return status;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills: the plugin's own, or copies of a patterned piece of host memory in their place.
 */
#include "device/fill.h"

#include "base/error.h"
#include "base/trace.h"
#include "device/constant.h"
#include "device/copy.h"
#include "device/host_memory.h"
#include "device/wait.h"

#include <inttypes.h>
#include <string.h>

static kw_status fill_by_copies(kw_stream *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                                uint32_t pattern_size) {
  static const char function[] = "filling memory without the plugin's fill";
  kw_status status = kw_stream_may_wait(function);
  if (status != KW_OK) return status;
  uint64_t room = size < KW_STAGING_SIZE ? size : KW_STAGING_SIZE; /* a multiple of pattern_size either way */
  kw_host_memory *staging = kw_staging_take(stream->device);
  if (staging == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: the host is out of memory", function);
  char *host = staging->bytes;
  for (uint64_t at = 0; at < room; at += pattern_size) memcpy(host + at, pattern, pattern_size);
  for (uint64_t done = 0; done < size && status == KW_OK; done += room) {
    const kw_copy_info copy = {.struct_size = sizeof copy,
                               .kind = KW_COPY_HOST_TO_DEVICE,
                               .dst_mem = mem,
                               .dst_offset = offset + done,
                               .src_host = host,
                               .size = size - done < room ? size - done : room};
    status = kw_copy_enqueue(stream, &copy);
  }
  const kw_status waited = kw_stream_drain(stream);
  kw_host_memory_give(stream, staging, waited == KW_OK);
  return status == KW_OK && waited == KW_ERR_TIMEOUT ? waited : status;
}

kw_status kw_memory_fill(kw_stream *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                         uint32_t pattern_size) {
  kw_device *device = stream->device;
  if ((device->plugin->native & KW_NATIVE_FILL) == 0) {
    return fill_by_copies(stream, mem, offset, size, pattern, pattern_size);
  }
  uint64_t begin = kw_trace_begin();
  kw_status status =
      KW_ASK(device->slots, memory.fill, device->handle, stream->handle, mem, offset, size, pattern, pattern_size);
  kw_trace_stream_span("copy", "fill", device->name, begin, stream->token, 0);
  if (status == KW_OK) return KW_OK;
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "filling %" PRIu64 " bytes on %s", size, device->name));
}

kw_status kw_buffer_check_fill(const kw_buffer *buffer, uint64_t offset, uint64_t size, uint32_t pattern_size) {
  bool power = pattern_size != 0 && pattern_size <= 16 && (pattern_size & (pattern_size - 1)) == 0;
  if (power && offset % pattern_size == 0 && size % pattern_size == 0 && offset <= buffer->size &&
      size <= buffer->size - offset) {
    return KW_OK;
  }
  return kw_fail(KW_ERR_INVALID_ARGUMENT,
                 "kw_buffer_fill: %" PRIu64 " bytes at %" PRIu64 " in a buffer of %" PRIu64
                 " with a pattern of %" PRIu32
                 ". The pattern has 1, 2, 4, 8 or 16 bytes; size and place are multiples of it, inside the buffer.",
                 size, offset, buffer->size, pattern_size);
}

kw_status kw_buffer_fill(kw_buffer *buffer, kw_stream *stream, uint64_t offset, uint64_t size, const void *pattern,
                         uint32_t pattern_size) {
  kw_status status = kw_buffer_check_fill(buffer, offset, size, pattern_size);
  if (status == KW_OK) status = kw_device_check(buffer->device);
  if (status != KW_OK || size == 0) return status;
  kw_buffer_change(buffer, stream);
  return kw_memory_fill(stream, buffer->mem, buffer->offset + offset, size, pattern, pattern_size);
}

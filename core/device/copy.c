/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin's memory.copy, traced and with its failures named.
 */
#include "device/copy.h"

#include "base/error.h"
#include "base/trace.h"

#include <inttypes.h>
#include <stdio.h>

kw_status kw_copy_enqueue(kw_stream *stream, const kw_copy_info *copy) {
  static const char *const names[] = {"host to device", "device to host", "device to device"};
  kw_device *device = stream->device;
  uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, memory.copy, device->handle, stream->handle, copy);
  if (kw_trace_on()) {
    char detail[120];
    snprintf(detail, sizeof detail, "%" PRIu64 " bytes, %s", copy->size, device->name);
    kw_trace_stream_span("copy", names[copy->kind], detail, begin, stream->token, 0);
  }
  if (status == KW_OK) {
    if (copy->kind == KW_COPY_HOST_TO_DEVICE) atomic_fetch_add(&device->bytes_to_device, copy->size);
    if (copy->kind == KW_COPY_DEVICE_TO_HOST) atomic_fetch_add(&device->bytes_to_host, copy->size);
    return KW_OK;
  }
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "copying %" PRIu64 " bytes, %s, on %s", copy->size,
                                                       names[copy->kind], device->name));
}

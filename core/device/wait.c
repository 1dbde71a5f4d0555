/* SPDX-License-Identifier: Apache-2.0
 *
 * Every wait of the library for a stream: the plugin's synchronize or query, and around it the errors that only the
 * data show.
 */
#include "device/wait.h"

#include "base/error.h"
#include "base/trace.h"
#include "device/host_memory.h"
#include "device/late_error.h"

bool kw_stream_drain(kw_stream *stream) {
  kw_device *device = stream->device;
  if (atomic_load(&device->lost)) return false;
  struct kw_word_check *check = kw_error_words_begin_check(stream);
  const uint64_t wait = kw_host_memory_begin_wait(stream), begin = kw_trace_begin();
  kw_status status = KW_ASK(device->plugin, stream.synchronize, device->handle, stream->handle);
  kw_trace_span("sync", "stream", device->name, begin);
  if (status == KW_OK) {
    kw_host_memory_settle(stream, wait);
  } else {
    status = kw_device_mark_if_lost(device, kw_from_plugin(status, "waiting for a stream of %s", device->name));
    const kw_status own = kw_error_detail(NULL);
    kw_late_error_keep(stream, own != KW_OK ? own : status, kw_error_message());
  }
  kw_error_words_end_check(stream, check, status == KW_OK);
  return status == KW_OK;
}

kw_status kw_stream_wait(const char *function, kw_stream *stream, bool *out_passed) {
  *out_passed = false;
  kw_status status = kw_stream_may_wait(function);
  if (status == KW_OK) status = kw_stream_may_not_record(function, stream);
  if (status != KW_OK) return status;
  *out_passed = kw_stream_drain(stream);
  return kw_late_error_take(stream);
}

kw_status kw_stream_synchronize(kw_stream *stream) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_synchronize: argument stream is NULL.");
  bool passed;
  return kw_stream_wait("kw_stream_synchronize", stream, &passed);
}

void kw_stream_drain_all(kw_device *device) {
  for (kw_stream *stream = NULL; (stream = kw_stream_pin_next(device, stream)) != NULL;) kw_stream_drain(stream);
}

/* A stream that records is waited for like any other: what it was given before the recording runs, and what is recorded
 * has not been enqueued anywhere. */
kw_status kw_device_synchronize(kw_device *device) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_synchronize: argument device is NULL");
  kw_status status = kw_stream_may_wait("kw_device_synchronize");
  if (status != KW_OK) return status;
  for (kw_stream *stream = NULL; (stream = kw_stream_pin_next(device, stream)) != NULL;) {
    kw_stream_drain(stream);
    if (status == KW_OK) status = kw_late_error_tell(stream);
  }
  return status;
}

kw_status kw_stream_query(kw_stream *stream) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_query: argument stream is NULL.");
  kw_device *device = stream->device;
  kw_status status = kw_device_check(device);
  if (status == KW_OK) status = kw_stream_may_not_record("kw_stream_query", stream);
  if (status != KW_OK) return status;
  if ((device->plugin->native & KW_NATIVE_QUERY) == 0) {
    status = kw_stream_may_wait("kw_stream_query");
    if (status != KW_OK) return status;
    kw_stream_drain(stream);
    return kw_device_check(device);
  }
  status = KW_ASK(device->plugin, stream.query, device->handle, stream->handle);
  if (status == KW_OK || status == KW_ERR_NOT_READY) return status;
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "asking whether a stream of %s is idle", device->name));
}

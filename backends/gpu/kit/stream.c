/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream group over a driver's functions: the life of streams, their host callbacks and their late errors.
 */
#include "kit/stream.h"

#include "kit/callbacks.h"

#include <stdlib.h>

static void discard(kw_gpu_stream *stream) {
  pthread_mutex_destroy(&stream->lock);
  free(stream);
}

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  kw_gpu_device *device = state;
  kw_status status = kw_gpu_check_critical(device->host, info->flags, info->next);
  if (status != KW_OK) return status;
  const kw_gpu_driver *driver = device->driver;
  kw_gpu_stream *stream = calloc(1, driver->stream_size > sizeof *stream ? driver->stream_size : sizeof *stream);
  if (!stream) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a stream");
  stream->device = device;
  stream->token = info->token;
  pthread_mutex_init(&stream->lock, NULL);
  status = driver->stream_create(stream, info->flags);
  if (status == KW_OK) {
    *out_stream = stream;
  } else {
    discard(stream);
  }
  return status;
}

static kw_status stream_synchronize(void *device, void *handle, uint64_t timeout_ns) {
  kw_gpu_stream *stream = handle;
  (void)device;
  return stream->device->driver->stream_synchronize(stream, timeout_ns);
}

static kw_status stream_destroy(void *device, void *handle) {
  kw_gpu_stream *stream = handle;
  kw_status status = stream_synchronize(device, stream, KW_WAIT_FOREVER);
  if (stream->callbacks) kw_gpu_callbacks_finish(stream->callbacks);
  kw_status destroyed = stream->device->driver->stream_destroy(stream);
  discard(stream);
  return status == KW_OK ? destroyed : status;
}

static kw_status stream_query(void *device, void *handle) {
  kw_gpu_stream *stream = handle;
  (void)device;
  return stream->device->driver->stream_query(stream);
}

/* Under the stream's lock, so that callbacks are run in the order in which they hold the stream. */
static kw_status enqueue(kw_gpu_callback *callback) {
  kw_gpu_stream *stream = callback->stream;
  const kw_gpu_device *device = stream->device;
  if (!stream->callbacks) stream->callbacks = kw_gpu_callbacks_start(device->driver, device->host);
  if (!stream->callbacks)
    return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no thread for a stream's host callbacks");
  kw_status status = device->driver->callback_hold(callback);
  if (status == KW_OK) kw_gpu_callbacks_push(stream->callbacks, callback);
  return status;
}

static kw_status stream_call_host(void *state, void *handle, uint64_t token) {
  const kw_gpu_device *device = state;
  const size_t size = device->driver->callback_size;
  kw_gpu_stream *stream = handle;
  kw_gpu_callback *callback = calloc(1, size > sizeof *callback ? size : sizeof *callback);
  if (!callback) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a host callback");
  callback->stream = stream;
  callback->token = token;
  pthread_mutex_lock(&stream->lock);
  kw_status status = enqueue(callback);
  pthread_mutex_unlock(&stream->lock);
  if (status != KW_OK) free(callback);
  return status;
}

kw_stream_api kw_gpu_stream_slots(const kw_gpu_driver *driver) {
  return (kw_stream_api){
      .struct_size = sizeof(kw_stream_api),
      .create = stream_create,
      .destroy = stream_destroy,
      .synchronize = stream_synchronize,
      .query = driver->stream_query ? stream_query : NULL,
      .call_host = driver->callback_hold ? stream_call_host : NULL,
  };
}

void kw_gpu_stream_fail(kw_gpu_stream *stream, uint64_t call_id, kw_status status, const char *text) {
  const kw_host_api *host = stream->device->host;
  if (!stream->failed) host->report_async_error(host->ctx, stream->token, call_id, status, text);
  stream->failed = true;
}

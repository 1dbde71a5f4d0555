/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one of the runtime's each, which waits for no other.
 *
 * The runtime calls host functions one at a time, all streams' on one thread; here they may block for long. So for a
 * callback the stream waits for a number in host memory to reach how many callbacks it has had, and the stream's
 * callback thread, having waited for what was before and run the callback, counts it there.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>

static const kw_rt_runtime *const here = &kw_rt_runtime_here;

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  kw_rt_device *device = state;
  kw_rt_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return kw_rt_no_memory(device->base.host, "a stream");
  void *before = here->enter(device);
  int error = kw_rt.stream_create(&stream->handle, 1); /* waits for no other */
  here->leave(before);
  if (error) {
    free(stream);
    return kw_rt_check(device, KW_RT_stream_create, error);
  }
  stream->device = device;
  stream->token = info->token;
  pthread_mutex_init(&stream->lock, NULL);
  *out_stream = stream;
  return KW_OK;
}

/* What waiting for the stream has said. An error is a kernel's, which one is not known: the newest is named. */
static kw_status tell(kw_rt_stream *stream, int call, int error) {
  const kw_host_api *host = stream->device->base.host;
  char text[300];
  if (error == 0) return KW_OK;
  const kw_status status = kw_rt_check(stream->device, call, error);
  kw_rt_describe(call, error, text, sizeof text);
  host->report_async_error(host->ctx, stream->token, atomic_load(&stream->last_call), status, text);
  return status;
}

static kw_status stream_synchronize(void *state, void *handle) {
  kw_rt_stream *stream = handle;
  void *before = here->enter(state);
  int error = kw_rt.stream_synchronize(stream->handle);
  here->leave(before);
  return tell(stream, KW_RT_stream_synchronize, error);
}

static kw_status stream_query(void *state, void *handle) {
  kw_rt_stream *stream = handle;
  void *before = here->enter(state);
  int error = kw_rt.stream_query(stream->handle);
  here->leave(before);
  if (kw_rt_status(error) == KW_ERR_NOT_READY) return KW_ERR_NOT_READY;
  return tell(stream, KW_RT_stream_query, error);
}

static kw_status stream_destroy(void *state, void *handle) {
  kw_rt_stream *stream = handle;
  kw_status status = stream_synchronize(state, stream);
  if (stream->callbacks) kw_gpu_callbacks_finish(stream->callbacks);
  void *before = here->enter(state);
  int error = kw_rt.stream_destroy(stream->handle);
  if (stream->gate) kw_rt.host_free((void *)stream->gate); /* what waited for it is gone */
  here->leave(before);
  if (status == KW_OK) status = kw_rt_check(state, KW_RT_stream_destroy, error);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
  return status;
}

/* ---- Host callbacks ---------------------------------------------------------------------------------------------- */

typedef struct callback {
  kw_gpu_callback base; /* first: the thread takes it for this */
  kw_rt_stream *stream;
  void *marker; /* an event: everything before the callback */
} callback;

static void callback_wait(kw_gpu_callback *base) {
  const callback *entry = (const callback *)base;
  void *before = here->enter(entry->stream->device);
  kw_rt.event_synchronize(entry->marker);
  here->leave(before);
}

static void callback_done(kw_gpu_callback *base) {
  callback *entry = (callback *)base;
  void *before = here->enter(entry->stream->device);
  atomic_fetch_add(entry->stream->gate, 1);
  kw_rt.event_destroy(entry->marker);
  here->leave(before);
  free(entry);
}

/* What a stream's first callback brings. */
static kw_status prepare_callbacks(kw_rt_stream *stream) {
  kw_rt_device *device = stream->device;
  if (!stream->gate) {
    void *memory = NULL;
    int error = kw_rt.host_alloc(&memory, sizeof *stream->gate, 1 | 2); /* for all contexts, with an address there */
    if (error) return kw_rt_check(device, KW_RT_host_alloc, error);
    stream->gate = memory;
    atomic_init(stream->gate, 0);
  }
  if (!stream->callbacks) stream->callbacks = kw_gpu_callbacks_start(device->base.host);
  return stream->callbacks ? KW_OK : kw_rt_no_memory(device->base.host, "a thread for a stream's callbacks");
}

/* Between marker and gate nothing else is appended by this function: callbacks run in the order of their markers. */
static kw_status enqueue_callback(callback *entry) {
  kw_rt_stream *stream = entry->stream;
  kw_rt_device *device = stream->device;
  kw_status status = prepare_callbacks(stream);
  if (status != KW_OK) return status;
  int error = kw_rt.event_create(&entry->marker, 2); /* no time is asked of it */
  if (error) return kw_rt_check(device, KW_RT_event_create, error);
  status = kw_rt_check(device, KW_RT_event_record, kw_rt.event_record(entry->marker, stream->handle));
  if (status == KW_OK) {
    error = here->wait_value(stream->handle, (void *)stream->gate, stream->gates + 1);
    status = kw_rt_check(device, KW_RT_CALL_COUNT + KW_RT_OWN_WAIT_VALUE, error);
  }
  if (status != KW_OK) {
    kw_rt.event_destroy(entry->marker);
    return status;
  }
  ++stream->gates;
  kw_gpu_callbacks_push(stream->callbacks, &entry->base);
  return KW_OK;
}

static kw_status stream_call_host(void *state, void *handle, uint64_t token) {
  kw_rt_stream *stream = handle;
  callback *entry = calloc(1, sizeof *entry);
  if (!entry) return kw_rt_no_memory(stream->device->base.host, "a callback");
  entry->base = (kw_gpu_callback){.token = token, .wait = callback_wait, .done = callback_done};
  entry->stream = stream;
  void *before = here->enter(state);
  pthread_mutex_lock(&stream->lock);
  kw_status status = enqueue_callback(entry);
  pthread_mutex_unlock(&stream->lock);
  here->leave(before);
  if (status != KW_OK) free(entry);
  return status;
}

const kw_stream_api kw_rt_stream_api = {
    .struct_size = sizeof kw_rt_stream_api,
    .create = stream_create,
    .destroy = stream_destroy,
    .synchronize = stream_synchronize,
    .query = stream_query,
    .call_host = stream_call_host,
};

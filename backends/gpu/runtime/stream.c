/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: one of the runtime's each, which waits for no other.
 *
 * The runtime calls host functions one at a time, all streams' on one thread; here they may block for long. So for a
 * callback the stream waits for a number in host memory to reach how many callbacks it has had, and the stream's
 * callback thread, having waited for what was before and run the callback, counts it there.
 */
#include "runtime.h"

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

/* What waiting for the stream has said. An error is a kernel's, which one is not known: the newest is named. */
static kw_status report_failure(kw_gpu_stream *stream, int call, int error) {
  const kw_host_api *host = stream->device->host;
  char text[300];
  if (error == 0) return KW_OK;
  const kw_status status = kw_rt_check((kw_rt_device *)stream->device, call, error);
  kw_rt_error_text(call, error, text, sizeof text);
  host->report_async_error(host->ctx, stream->token, atomic_load(&((kw_rt_stream *)stream)->last_call), status, text);
  return status;
}

kw_status kw_rt_stream_create(kw_gpu_stream *stream, uint64_t flags) {
  kw_rt_device *device = (kw_rt_device *)stream->device;
  (void)flags;
  void *before = runtime->enter(device);
  int error = kw_rt.stream_create(&stream->handle, 1); /* waits for no other */
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_stream_create, error);
}

/* The runtime's own wait has no limit, and to ask until the stream is idle would be to wait for what comes later, too:
 * so for an event. */
static kw_status wait_within(kw_gpu_stream *stream, uint64_t timeout_ns) {
  kw_rt_device *device = (kw_rt_device *)stream->device;
  void *event = NULL;
  int error = kw_rt.event_create(&event, 2); /* no time is asked of it */
  if (error) return kw_rt_check(device, KW_RT_event_create, error);
  error = kw_rt.event_record(event, stream->handle);
  kw_status status =
      error ? kw_rt_check(device, KW_RT_event_record, error) : kw_gpu_poll(kw_rt_event_poll, event, timeout_ns);
  kw_rt.event_destroy(event);
  return status;
}

kw_status kw_rt_stream_synchronize(kw_gpu_stream *stream, uint64_t timeout_ns) {
  const bool limited = timeout_ns != KW_WAIT_FOREVER;
  void *before = runtime->enter((kw_rt_device *)stream->device);
  kw_status status = limited && timeout_ns > 0 ? wait_within(stream, timeout_ns) : KW_OK;
  int error = 0;
  if (status == KW_OK) error = limited ? kw_rt.stream_query(stream->handle) : kw_rt.stream_synchronize(stream->handle);
  runtime->leave(before);
  if (status != KW_OK) return status;
  /* After the wait it is later work that is not ready. */
  if (kw_rt_status(error) == KW_ERR_NOT_READY) return timeout_ns == 0 ? KW_ERR_TIMEOUT : KW_OK;
  return report_failure(stream, limited ? KW_RT_stream_query : KW_RT_stream_synchronize, error);
}

kw_status kw_rt_stream_query(kw_gpu_stream *stream) {
  void *before = runtime->enter((kw_rt_device *)stream->device);
  int error = kw_rt.stream_query(stream->handle);
  runtime->leave(before);
  if (kw_rt_status(error) == KW_ERR_NOT_READY) return KW_ERR_NOT_READY;
  return report_failure(stream, KW_RT_stream_query, error);
}

kw_status kw_rt_stream_destroy(kw_gpu_stream *stream) {
  kw_rt_device *device = (kw_rt_device *)stream->device;
  _Atomic uint32_t *gate = ((kw_rt_stream *)stream)->gate;
  void *before = runtime->enter(device);
  int error = kw_rt.stream_destroy(stream->handle);
  if (gate) kw_rt.host_free((void *)gate); /* what waited for it is gone */
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_stream_destroy, error);
}

/* ---- Host callbacks ---------------------------------------------------------------------------------------------- */

void kw_rt_callback_wait(kw_gpu_callback *callback) {
  void *before = runtime->enter((kw_rt_device *)callback->stream->device);
  kw_rt.event_synchronize(((kw_rt_callback *)callback)->marker);
  runtime->leave(before);
}

void kw_rt_callback_done(kw_gpu_callback *callback) {
  void *before = runtime->enter((kw_rt_device *)callback->stream->device);
  atomic_fetch_add(((kw_rt_stream *)callback->stream)->gate, 1);
  kw_rt.event_destroy(((kw_rt_callback *)callback)->marker);
  runtime->leave(before);
}

/* The number that a stream's first callback brings. */
static kw_status prepare_gate(kw_rt_stream *stream) {
  void *memory = NULL;
  if (stream->gate) return KW_OK;
  int error = kw_rt.host_alloc(&memory, sizeof *stream->gate, 1 | 2); /* for all contexts, with an address there */
  if (error) return kw_rt_check((kw_rt_device *)stream->base.device, KW_RT_host_alloc, error);
  stream->gate = memory;
  atomic_init(stream->gate, 0);
  return KW_OK;
}

/* Between marker and gate nothing else is appended by this function: callbacks run in the order of their markers. */
static kw_status hold(kw_rt_callback *callback) {
  kw_rt_stream *stream = (kw_rt_stream *)callback->base.stream;
  kw_rt_device *device = (kw_rt_device *)stream->base.device;
  kw_status status = prepare_gate(stream);
  if (status != KW_OK) return status;
  int error = kw_rt.event_create(&callback->marker, 2); /* no time is asked of it */
  if (error) return kw_rt_check(device, KW_RT_event_create, error);
  status = kw_rt_check(device, KW_RT_event_record, kw_rt.event_record(callback->marker, stream->base.handle));
  if (status == KW_OK) {
    error = runtime->wait_value(stream->base.handle, (void *)stream->gate, stream->gates + 1);
    status = kw_rt_check(device, KW_RT_CALL_COUNT + KW_RT_OWN_WAIT_VALUE, error);
  }
  if (status == KW_OK) {
    ++stream->gates;
  } else {
    kw_rt.event_destroy(callback->marker);
  }
  return status;
}

kw_status kw_rt_callback_hold(kw_gpu_callback *callback) {
  void *before = runtime->enter((kw_rt_device *)callback->stream->device);
  kw_status status = hold((kw_rt_callback *)callback);
  runtime->leave(before);
  return status;
}

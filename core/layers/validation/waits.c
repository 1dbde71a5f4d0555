/* SPDX-License-Identifier: Apache-2.0
 *
 * Each function goes on first, and tells the order what it has brought about where it went well.
 */
#include "layers/validation/waits.h"

#include "layers/validation/objects.h"
#include "layers/validation/order.h"

#include <pthread.h>
#include <stdlib.h>

static kw_api below;

static const kw_device *device_of(const kw_event *event) {
  kw_objects_lock();
  const kw_object *object = kw_object_find(KW_KIND_EVENT, event);
  const kw_device *device = object != NULL && object->device != NULL ? object->device->address : NULL;
  kw_objects_unlock();
  return device;
}

/* ---- Waits of the host ------------------------------------------------------------------------------------------- */

static kw_status device_synchronize(kw_device *device) {
  const kw_status status = below.device_synchronize(device);
  if (status == KW_OK) kw_order_waited_all(device);
  return status;
}

static kw_status device_synchronize_for(kw_device *device, uint64_t timeout_ns) {
  const kw_status status = below.device_synchronize_for(device, timeout_ns);
  if (status == KW_OK) kw_order_waited_all(device);
  return status;
}

static kw_status waited(kw_status status, const kw_stream *stream) {
  if (status == KW_OK && stream != NULL) kw_order_waited(kw_stream_device(stream), stream);
  return status;
}

static kw_status stream_synchronize(kw_stream *stream) {
  return waited(below.stream_synchronize(stream), stream);
}

static kw_status stream_synchronize_for(kw_stream *stream, uint64_t timeout_ns) {
  return waited(below.stream_synchronize_for(stream, timeout_ns), stream);
}

static kw_status stream_query(kw_stream *stream) {
  return waited(below.stream_query(stream), stream);
}

static kw_status waited_event(kw_status status, const kw_event *event) {
  if (status == KW_OK) kw_order_waited_event(event);
  return status;
}

static kw_status event_synchronize(kw_event *event) {
  return waited_event(below.event_synchronize(event), event);
}

static kw_status event_synchronize_for(kw_event *event, uint64_t timeout_ns) {
  return waited_event(below.event_synchronize_for(event, timeout_ns), event);
}

static kw_status event_query(kw_event *event) {
  return waited_event(below.event_query(event), event);
}

/* The function runs after what the stream was given before, which is over then. */
static kw_status stream_call_host(kw_stream *stream, void(KW_CALL *fn)(void *user), void *user) {
  kw_host_function *function = stream != NULL && fn != NULL ? kw_order_host_function(stream, fn, user) : NULL;
  if (function == NULL) return below.stream_call_host(stream, fn, user);
  const kw_status status = below.stream_call_host(stream, kw_order_run_host_function, function);
  if (status != KW_OK) free(function);
  return status;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static kw_status event_record(kw_event *event, kw_stream *stream) {
  if (stream != NULL && device_of(event) != NULL && kw_stream_device(stream) != device_of(event)) {
    kw_checked_suspect("event-of-another-device");
  }
  const kw_status status = below.event_record(event, stream);
  if (status == KW_OK) kw_order_recorded(event, stream);
  return status;
}

static kw_status stream_wait_event(kw_stream *stream, kw_event *event) {
  const kw_status status = below.stream_wait_event(stream, event);
  if (status == KW_OK) kw_order_stream_waits(stream, event);
  return status;
}

static kw_status event_elapsed(kw_event *start, kw_event *end, uint64_t *out_ns) {
  if (device_of(start) != device_of(end)) {
    kw_checked_suspect("event-of-another-device");
  }
  return below.event_elapsed(start, end, out_ns);
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

static void set_records(const kw_stream *stream, bool records) {
  kw_objects_lock();
  kw_object *object = kw_object_find(KW_KIND_STREAM, stream);
  if (object != NULL) {
    object->records = records;
    object->recorder = pthread_self();
  }
  kw_objects_unlock();
}

static bool records(const kw_stream *stream, bool *out_here) {
  kw_objects_lock();
  const kw_object *object = kw_object_find(KW_KIND_STREAM, stream);
  const bool is = object != NULL && object->records;
  *out_here = is && pthread_equal(object->recorder, pthread_self());
  kw_objects_unlock();
  return is;
}

static kw_status graph_begin(kw_stream *stream) {
  bool here;
  const bool already = records(stream, &here);
  const kw_status status = below.graph_begin(stream);
  if (status == KW_OK) set_records(stream, true);
  if (status != KW_OK && already) kw_checked_suspect("recording-begun-twice");
  return status;
}

/* The recording has ended, also where there is no graph of it, unless another thread has it. */
static kw_status graph_end(kw_stream *stream, kw_graph **out_graph) {
  bool here;
  const bool is = records(stream, &here);
  const kw_status status = below.graph_end(stream, out_graph);
  if (status != KW_OK && !is) kw_checked_suspect("recording-not-begun");
  if (status != KW_OK && is && !here) kw_checked_suspect("recording-ended-elsewhere");
  if (status == KW_OK || here) set_records(stream, false);
  if (status == KW_OK && out_graph != NULL) {
    kw_object_begin(KW_KIND_GRAPH, *out_graph, kw_stream_device(stream), false);
    kw_order_end_recording(stream, *out_graph);
  } else {
    kw_order_end_recording(stream, NULL);
  }
  return status;
}

static kw_status graph_launch(kw_graph *graph, kw_stream *stream) {
  kw_objects_lock();
  const kw_object *object = kw_object_find(KW_KIND_GRAPH, graph);
  const kw_device *device = object != NULL && object->device != NULL ? object->device->address : NULL;
  kw_objects_unlock();
  if (stream != NULL && device != NULL && kw_stream_device(stream) != device) {
    kw_checked_suspect("graph-of-another-device");
  }
  const kw_status status = below.graph_launch(graph, stream);
  if (status == KW_OK) kw_order_launched(graph, stream);
  return status;
}

void kw_waits_wrap(kw_api *api) {
  below = *api;
  api->device_synchronize = device_synchronize;
  api->device_synchronize_for = device_synchronize_for;
  api->stream_synchronize = stream_synchronize;
  api->stream_synchronize_for = stream_synchronize_for;
  api->stream_query = stream_query;
  api->stream_call_host = stream_call_host;
  api->event_synchronize = event_synchronize;
  api->event_synchronize_for = event_synchronize_for;
  api->event_query = event_query;
  api->event_record = event_record;
  api->stream_wait_event = stream_wait_event;
  api->event_elapsed = event_elapsed;
  api->graph_begin = graph_begin;
  api->graph_end = graph_end;
  api->graph_launch = graph_launch;
}

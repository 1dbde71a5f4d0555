/* SPDX-License-Identifier: Apache-2.0
 *
 * Events, over those of the plugin. Where a plugin has none, record waits for the stream, so that the event has passed
 * before it can be asked for.
 */
#include "base/error.h"
#include "base/fork.h"
#include "base/trace.h"
#include "device/activity.h"
#include "device/wait.h"

#include <inttypes.h>
#include <stdlib.h>

struct kw_event {
  kw_device *device;             /* holds a reference */
  void *handle;                  /* the plugin's; NULL for a derived event */
  atomic_ullong derived_time_ns; /* of the last record; 0 = never recorded */
  atomic_ullong stream;          /* the token of the last one that recorded it */
};

static bool is_native(const kw_event *event) {
  return (event->device->plugin->native & KW_NATIVE_EVENTS) != 0;
}

static kw_status check(const char *function, const kw_event *event) {
  if (event == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument event is NULL.", function);
  return kw_device_check(event->device);
}

kw_status kw_event_create(kw_device *device, kw_event **out_event) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_event_create: argument device is NULL.");
  if (out_event == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_event_create: argument out_event is NULL.");
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status != KW_OK) return status;
  kw_event *event = calloc(1, sizeof *event);
  if (event == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_event_create: the host is out of memory.");
  event->device = device;
  if (is_native(event)) {
    const kw_event_info info = {.struct_size = sizeof info};
    status = KW_ASK(device->slots, event.create, device->handle, &info, &event->handle);
    if (status != KW_OK) {
      free(event);
      return kw_device_mark_if_lost(device, kw_from_plugin(status, "creating an event on %s", device->name));
    }
  }
  kw_device_retain(device);
  *out_event = event;
  return KW_OK;
}

kw_status kw_event_destroy(kw_event *event) {
  if (event == NULL) return KW_OK;
  kw_device *device = event->device;
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  if (is_native(event)) status = KW_ASK(device->slots, event.destroy, device->handle, event->handle);
  if (status != KW_OK) {
    status = kw_device_mark_if_lost(device, kw_from_plugin(status, "destroying an event of %s", device->name));
  }
  free(event);
  kw_device_release(device);
  return status;
}

kw_status kw_event_record(kw_event *event, kw_stream *stream) {
  kw_status status = check("kw_event_record", event);
  if (status != KW_OK) return status;
  kw_device *device = event->device;
  status = kw_stream_resolve("kw_event_record", device, stream, &stream);
  if (status == KW_OK) status = kw_stream_may_not_record("kw_event_record", stream);
  if (status != KW_OK) return status;
  if (!is_native(event)) {
    status = kw_stream_let_pass("kw_event_record", stream);
    if (status == KW_OK) atomic_store(&event->derived_time_ns, kw_trace_now());
    return status;
  }
  status = KW_ASK(device->slots, event.record, device->handle, event->handle, stream->handle);
  if (status == KW_OK) {
    atomic_store(&event->stream, stream->token);
    return KW_OK;
  }
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "recording an event on %s", device->name));
}

kw_status kw_event_query(kw_event *event) {
  kw_status status = check("kw_event_query", event);
  if (status != KW_OK || !is_native(event)) return status;
  kw_device *device = event->device;
  status = KW_ASK(device->slots, event.query, device->handle, event->handle);
  if (status == KW_OK || status == KW_ERR_NOT_READY) return status;
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "asking for an event of %s", device->name));
}

static kw_status time_out(const char *function, const kw_event *event, uint64_t timeout_ns) {
  kw_stream *stream = kw_stream_pin(atomic_load(&event->stream));
  if (stream == NULL) return kw_from_plugin(KW_ERR_TIMEOUT, "%s: an event of %s", function, event->device->name);
  kw_wait_timed_out(stream, timeout_ns, "an event was not passed: ");
  kw_stream_unpin(stream);
  return kw_wrap(KW_ERR_TIMEOUT, "%s", function);
}

static kw_status wait_for(const char *function, kw_event *event, uint64_t timeout_ns) {
  kw_status status = check(function, event);
  if (status == KW_OK) status = kw_stream_may_wait(function);
  if (status != KW_OK || !is_native(event)) return status;
  kw_device *device = event->device;
  uint64_t begin = kw_trace_begin();
  status = KW_ASK(device->slots, event.synchronize, device->handle, event->handle, timeout_ns);
  kw_trace_span("sync", "event", device->name, begin);
  if (status == KW_OK) {
    kw_activity_collect(device);
    return KW_OK;
  }
  if (status == KW_ERR_TIMEOUT) return time_out(function, event, timeout_ns);
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "waiting for an event of %s", device->name));
}

kw_status kw_event_synchronize(kw_event *event) {
  return wait_for("kw_event_synchronize", event, event != NULL ? kw_wait_limit(event->device) : 0);
}

kw_status kw_event_synchronize_for(kw_event *event, uint64_t timeout_ns) {
  return wait_for("kw_event_synchronize_for", event, timeout_ns);
}

kw_status kw_stream_wait_event(kw_stream *stream, kw_event *event) {
  kw_status status = check("kw_stream_wait_event", event);
  if (status != KW_OK) return status;
  kw_device *device = event->device;
  if (stream == NULL) stream = device->default_stream;
  status = kw_stream_may_not_record("kw_stream_wait_event", stream);
  if (status != KW_OK) return status;
  if (stream->device != device) {
    status = kw_device_check(stream->device);
    return status != KW_OK ? status : kw_event_synchronize(event);
  }
  if (!is_native(event)) return KW_OK;
  status = KW_ASK(device->slots, event.wait, device->handle, stream->handle, event->handle);
  if (status == KW_OK) return KW_OK;
  return kw_device_mark_if_lost(device,
                                kw_from_plugin(status, "making a stream of %s wait for an event", device->name));
}

kw_status kw_event_elapsed(kw_event *start, kw_event *end, uint64_t *out_ns) {
  kw_status status = check("kw_event_elapsed", start);
  if (status == KW_OK) status = check("kw_event_elapsed", end);
  if (status != KW_OK) return status;
  if (out_ns == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_event_elapsed: argument out_ns is NULL.");
  kw_device *device = start->device;
  if (end->device != device) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_event_elapsed: argument start belongs to %s, argument end to %s. Clocks of two devices do not "
                   "compare; record both events on one.",
                   device->name, end->device->name);
  }
  if (is_native(start)) {
    status = KW_ASK(device->slots, event.elapsed, device->handle, start->handle, end->handle, out_ns);
    if (status == KW_OK || status == KW_ERR_NOT_READY) return status;
    return kw_device_mark_if_lost(device, kw_from_plugin(status, "measuring between two events of %s", device->name));
  }
  uint64_t from = atomic_load(&start->derived_time_ns), to = atomic_load(&end->derived_time_ns);
  if (from == 0 || to == 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_event_elapsed: argument %s was never recorded. Record both events, then wait for them.",
                   from == 0 ? "start" : "end");
  }
  if (to < from) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_event_elapsed: argument end was recorded before argument start. Swap them.");
  }
  *out_ns = to - from;
  return KW_OK;
}

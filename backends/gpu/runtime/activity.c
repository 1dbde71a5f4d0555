/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records: a command's mark is two of the runtime's events, before it and behind it.
 *
 * The runtime tells only how much time lies between two events, and the less exactly the more it is. So the device's
 * clock is an event that has passed, its origin, which is replaced when it is asked for the time and that one is old.
 */
#include "runtime.h"

#include <math.h>
#include <stdlib.h>

#define ORIGIN_NS INT64_C(1000000000)       /* the time at the first origin: others may come before it */
#define ORIGIN_LASTS_NS INT64_C(1000000000) /* a float of that many is exact to less than 60 */

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

typedef struct mark {
  void *begin, *end;
} mark;

static void drop(mark *m) {
  if (m->begin) kw_rt.event_destroy(m->begin);
  if (m->end) kw_rt.event_destroy(m->end);
  free(m);
}

/* An event that is recorded on the stream now; NULL with an error. */
static int record_event(void *stream, void **out_event) {
  int error = kw_rt.event_create(out_event, 0);
  if (!error) error = kw_rt.event_record(*out_event, stream);
  if (error && *out_event) {
    kw_rt.event_destroy(*out_event);
    *out_event = NULL;
  }
  return error;
}

/* ---- The clock, under the device's lock -------------------------------------------------------------------------- */

static int start_clock(kw_rt_device *device) {
  if (device->origin) return 0;
  device->origin_ns = ORIGIN_NS;
  int error = record_event(device->memory_stream, &device->origin);
  return error ? error : kw_rt.event_synchronize(device->origin);
}

static int time_of(const kw_rt_device *device, void *event, int64_t *out_ns) {
  float ms = 0;
  int error = kw_rt.event_elapsed(&ms, device->origin, event);
  *out_ns = device->origin_ns + llround((double)ms * 1e6);
  return error;
}

/* By an event on the stream where nothing ever waits. */
static int read_clock(kw_rt_device *device, int64_t *out_ns, int *out_call) {
  void *event = NULL;
  *out_call = KW_RT_event_record;
  int error = start_clock(device);
  if (!error) error = record_event(device->memory_stream, &event);
  if (error) return error;
  *out_call = KW_RT_event_synchronize;
  error = kw_rt.event_synchronize(event);
  if (!error) {
    *out_call = KW_RT_event_elapsed;
    error = time_of(device, event, out_ns);
  }
  if (!error && *out_ns - device->origin_ns > ORIGIN_LASTS_NS) {
    void *before = device->origin;
    device->origin = event;
    device->origin_ns = *out_ns;
    event = before;
  }
  kw_rt.event_destroy(event);
  return error;
}

kw_status kw_rt_device_now(kw_gpu_device *base, uint64_t *out_ns) {
  kw_rt_device *device = (kw_rt_device *)base;
  int64_t ns = 0;
  int call;
  void *before = runtime->enter(device);
  pthread_mutex_lock(&base->lock);
  int error = read_clock(device, &ns, &call);
  pthread_mutex_unlock(&base->lock);
  runtime->leave(before);
  *out_ns = (uint64_t)ns;
  return kw_rt_check(device, call, error);
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

kw_rt_span kw_rt_span_begin(kw_gpu_stream *stream) {
  kw_rt_device *device = (kw_rt_device *)stream->device;
  kw_rt_span span = {.stream = stream};
  kw_gpu_settle(stream);
  if (!kw_gpu_activity_on(&device->base)) return span;
  pthread_mutex_lock(&stream->lock);
  span.locked = true;
  mark *m = atomic_load(&((kw_rt_stream *)stream)->captures) ? NULL : calloc(1, sizeof *m);
  if (m && record_event(stream->handle, &m->begin) != 0) {
    drop(m);
    m = NULL;
  }
  span.mark = m;
  return span;
}

void kw_rt_span_end(const kw_rt_span *span, kw_activity_kind kind, uint64_t id, int error) {
  mark *m = span->mark;
  if (m && (error || record_event(span->stream->handle, &m->end) != 0)) {
    drop(m);
  } else if (m) {
    kw_gpu_activity_note(span->stream, kind, id, m);
  }
  if (span->locked) pthread_mutex_unlock(&span->stream->lock);
}

bool kw_rt_mark_passed(kw_gpu_device *device, void *handle) {
  void *before = runtime->enter((kw_rt_device *)device);
  kw_status status = kw_rt_event_poll(((const mark *)handle)->end);
  runtime->leave(before);
  return status == KW_OK;
}

bool kw_rt_mark_times(kw_gpu_device *base, void *handle, uint64_t *out_begin, uint64_t *out_end) {
  kw_rt_device *device = (kw_rt_device *)base;
  const mark *m = handle;
  int64_t begin = 0, end = 0;
  void *before = runtime->enter(device);
  pthread_mutex_lock(&base->lock);
  int error = start_clock(device);
  if (!error) error = time_of(device, m->begin, &begin);
  if (!error) error = time_of(device, m->end, &end);
  pthread_mutex_unlock(&base->lock);
  runtime->leave(before);
  *out_begin = (uint64_t)begin;
  *out_end = (uint64_t)end;
  return error == 0;
}

void kw_rt_mark_drop(kw_gpu_device *device, void *handle) {
  void *before = runtime->enter((kw_rt_device *)device);
  drop(handle);
  runtime->leave(before);
}

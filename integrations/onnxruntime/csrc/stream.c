/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and notifications: ONNX Runtime gives each run a stream of its own, so that runs of several threads and
 * sessions do not wait for each other. A notification is an event.
 */
#include "capture.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct stream {
  ort_sync_stream slots; /* first */
  kw_stream *stream;
  kw_event *passed; /* under the mutex: kw_ort_stream_behind */
  struct stream *next;
} stream;

/* All that there are: ONNX Runtime 1.24 shows streams of others as ours, and every version gives the devices of one
 * type that a session has the streams of the last one. */
static stream *all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

typedef struct notification {
  ort_sync_notification slots; /* first */
  kw_event *event;
  kw_stream *producer;
} notification;

kw_stream *kw_ort_stream_of(const OrtSyncStream *of) {
  const void *impl = of ? kw_ort_eps->SyncStream_GetImpl(of) : NULL;
  const stream *known;
  pthread_mutex_lock(&mutex);
  for (known = all; known && known != impl;) known = known->next;
  pthread_mutex_unlock(&mutex);
  return known ? known->stream : NULL;
}

kw_stream *kw_ort_stream_for(const void *handle, kw_device *device) {
  const stream *known;
  pthread_mutex_lock(&mutex);
  for (known = all; known && known->stream != handle;) known = known->next;
  pthread_mutex_unlock(&mutex);
  return known && kw_stream_device(known->stream) == device ? known->stream : kw_stream_default(device);
}

/* One that records has run what it was given before: its run waited for that before it began to record. */
static kw_status follow(kw_stream *behind, stream *of) {
  const kw_status status = kw_event_record(of->passed, of->stream);
  if (status == KW_ERR_BUSY) return KW_OK;
  return status == KW_OK ? kw_stream_wait_event(behind, of->passed) : status;
}

kw_status kw_ort_stream_behind(const void *handle, kw_device *device, kw_stream **out_stream) {
  kw_status status = KW_OK;
  *out_stream = kw_ort_stream_for(handle, device);
  if (*out_stream == handle) return KW_OK;
  pthread_mutex_lock(&mutex);
  for (stream *each = all; each && status == KW_OK; each = each->next)
    if (kw_stream_device(each->stream) == device) status = follow(*out_stream, each);
  pthread_mutex_unlock(&mutex);
  return status;
}

/* What this thread's run has used, a stream a device. ONNX Runtime does not wait for a stream any more after a run that
 * failed, and gives it to a later one: so that this one is not told of the failure, OnRunEnd waits for it. */
static _Thread_local kw_stream *used[4];

void kw_ort_stream_use(kw_stream *stream) {
  const size_t count = sizeof used / sizeof *used;
  for (size_t i = 0; i < count && stream; ++i) {
    if (used[i] && kw_stream_device(used[i]) != kw_stream_device(stream)) continue;
    used[i] = stream;
    return;
  }
}

OrtStatus *kw_ort_stream_settle(kw_device *device) {
  for (size_t i = 0; i < sizeof used / sizeof *used; ++i) {
    kw_stream *stream = used[i];
    if (!stream || kw_stream_device(stream) != device) continue;
    used[i] = NULL;
    return kw_ort_status(kw_stream_synchronize(stream), "the run's work on the device");
  }
  return kw_ort_status(kw_device_synchronize(device), "the run's work on the device");
}

/* ---- Notifications ----------------------------------------------------------------------------------------------- */

static void notification_release(ort_sync_notification *slots) {
  kw_event_destroy(((notification *)slots)->event);
  free(slots);
}

static OrtStatus *activate(ort_sync_notification *slots) {
  notification *self = (notification *)slots;
  return kw_ort_status(kw_event_record(self->event, self->producer), "an event");
}

static OrtStatus *wait_on_device(ort_sync_notification *slots, OrtSyncStream *consumer) {
  return kw_ort_status(kw_stream_wait_event(kw_ort_stream_of(consumer), ((notification *)slots)->event),
                       "a wait for an event");
}

static OrtStatus *wait_on_host(ort_sync_notification *slots) {
  return kw_ort_status(kw_event_synchronize(((notification *)slots)->event), "a wait for an event");
}

static OrtStatus *create_notification(ort_sync_stream *slots, ort_sync_notification **out_notification) {
  stream *producer = (stream *)slots;
  notification *self = calloc(1, sizeof *self);
  kw_status status;
  if (!self) return kw_ort_refuse(ORT_FAIL, "no memory for a notification");
  status = kw_event_create(kw_stream_device(producer->stream), &self->event);
  if (status != KW_OK) {
    free(self);
    return kw_ort_status(status, "an event");
  }
  self->producer = producer->stream;
  self->slots = (ort_sync_notification){.ort_version_supported = KW_ORT_API_VERSION,
                                        .Release = notification_release,
                                        .Activate = activate,
                                        .WaitOnDevice = wait_on_device,
                                        .WaitOnHost = wait_on_host};
  *out_notification = &self->slots;
  return NULL;
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static void stream_release(ort_sync_stream *slots) {
  stream *self = (stream *)slots;
  kw_device *device = kw_stream_device(self->stream);
  stream **place = &all;
  pthread_mutex_lock(&mutex);
  while (*place != self) place = &(*place)->next;
  *place = self->next;
  pthread_mutex_unlock(&mutex);
  kw_event_destroy(self->passed);
  kw_stream_destroy(self->stream);
  kw_device_close(device);
  free(self);
}

static void *get_handle(ort_sync_stream *slots) {
  return ((stream *)slots)->stream;
}

static OrtStatus *flush(ort_sync_stream *slots) {
  if (capture_records(((stream *)slots)->stream)) return NULL; /* what is recorded runs when it ends: capture.c */
  return kw_ort_status(kw_stream_synchronize(((stream *)slots)->stream), "the run's work on the device");
}

OrtStatus *kw_ort_stream_create(const OrtMemoryDevice *memory, ort_sync_stream **out_stream) {
  kw_device *device = NULL;
  stream *self = calloc(1, sizeof *self);
  OrtStatus *status = self ? NULL : kw_ort_refuse(ORT_FAIL, "no memory for a stream");
  if (!status) status = kw_ort_device_open(memory, &device);
  if (!status) status = kw_ort_status(kw_stream_create(device, &self->stream), "a stream");
  if (!status) status = kw_ort_status(kw_event_create(device, &self->passed), "an event of a stream");
  if (status) {
    if (self) kw_stream_destroy(self->stream);
    if (device) kw_device_close(device);
    free(self);
    return status;
  }
  self->slots = (ort_sync_stream){.ort_version_supported = KW_ORT_API_VERSION,
                                  .Release = stream_release,
                                  .GetHandle = get_handle,
                                  .CreateNotification = create_notification,
                                  .Flush = flush,
                                  .OnSessionRunEnd = flush};
  pthread_mutex_lock(&mutex);
  self->next = all;
  all = self;
  pthread_mutex_unlock(&mutex);
  *out_stream = &self->slots;
  return NULL;
}

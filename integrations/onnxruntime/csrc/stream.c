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

/* ---- What runs have used -------------------------------------------------------------------------------------------
 *
 * After OnRunEnd ONNX Runtime waits for the streams of a run that went well, and not for those of one that failed,
 * which it gives to a later run: so that this one is not told of the failure, OnRunEnd waits for them. Other threads
 * than the one that begins and ends a run may compute its nodes (ORT_PARALLEL), and nothing says of which run they are:
 * what is left of such the last run that ends waits for. (Of runs of one session at once one may then be told of
 * another's failure; none is lost.)
 */

typedef struct use {
  const provider *of;
  kw_stream *stream;
  pthread_t thread;
  struct use *next;
} use;

static use *uses; /* under the mutex: since somebody has waited for the stream */

OrtStatus *kw_ort_stream_use(const provider *of, kw_stream *stream) {
  use *known;
  pthread_mutex_lock(&mutex);
  for (known = uses; known && !(known->of == of && known->stream == stream);) known = known->next;
  if (!known && (known = calloc(1, sizeof *known)) != NULL) {
    *known = (use){.of = of, .stream = stream, .next = uses};
    uses = known;
  }
  if (known) known->thread = pthread_self();
  pthread_mutex_unlock(&mutex);
  return known ? NULL : kw_ort_refuse(ORT_FAIL, "no memory for a note of a stream");
}

/* Takes those uses out that are of the stream (NULL: any), of the provider (NULL: any) and of the thread (NULL: any).
 */
static use *take(const kw_stream *stream, const provider *of, const pthread_t *thread) {
  use *taken = NULL;
  pthread_mutex_lock(&mutex);
  for (use **link = &uses, *each; (each = *link) != NULL;) {
    if ((stream && each->stream != stream) || (of && each->of != of) ||
        (thread && !pthread_equal(each->thread, *thread))) {
      link = &each->next;
      continue;
    }
    *link = each->next;
    each->next = taken;
    taken = each;
  }
  pthread_mutex_unlock(&mutex);
  return taken;
}

static void forget(use *taken) {
  for (use *next; taken; taken = next) {
    next = taken->next;
    free(taken);
  }
}

/* Waits for all of them; of errors the first. */
static OrtStatus *wait_for(use *taken) {
  OrtStatus *first = NULL;
  for (const use *each = taken; each; each = each->next) {
    OrtStatus *status = kw_ort_status(kw_stream_synchronize(each->stream), "the run's work on the device");
    if (first && status) kw_ort->ReleaseStatus(status);
    if (!first) first = status;
  }
  forget(taken);
  return first;
}

OrtStatus *kw_ort_stream_settle(const provider *of, bool last) {
  const pthread_t self = pthread_self();
  return wait_for(take(NULL, of, last ? NULL : &self));
}

void kw_ort_stream_forget(const provider *of) {
  forget(take(NULL, of, NULL));
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
  kw_stream *stream = kw_ort_stream_of(consumer);
  kw_event *event = ((notification *)slots)->event;
  /* A stream of others knows nothing of Keyway's events. */
  return kw_ort_status(stream ? kw_stream_wait_event(stream, event) : kw_event_synchronize(event),
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
  forget(take(self->stream, NULL, NULL));
  kw_event_destroy(self->passed);
  kw_stream_destroy(self->stream);
  kw_device_close(device);
  free(self);
}

static void *get_handle(ort_sync_stream *slots) {
  return ((stream *)slots)->stream;
}

static OrtStatus *flush(ort_sync_stream *slots) {
  kw_stream *stream = ((struct stream *)slots)->stream;
  if (capture_records(stream)) return NULL; /* what is recorded runs when it ends: capture.c */
  forget(take(stream, NULL, NULL));
  return kw_ort_status(kw_stream_synchronize(stream), "the run's work on the device");
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

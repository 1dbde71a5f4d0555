/* SPDX-License-Identifier: Apache-2.0
 *
 * Events. Each record makes a marker of its own, which the event, the recording stream and every wait share: recording
 * again or destroying the event leaves the waits that are already queued on the marker they were given.
 */
#include "cpu.h"
#include "wait.h"

#include <stdlib.h>

typedef struct marker {
  atomic_uint references;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool passed;
  uint64_t time; /* nanoseconds on the monotonic clock, once passed */
} marker;

typedef struct event {
  pthread_mutex_t lock;
  marker *last; /* of the last record; NULL before the first */
} event;

static marker *marker_create(void) {
  marker *mark = malloc(sizeof *mark);
  if (!mark) return NULL;
  atomic_init(&mark->references, 1);
  pthread_mutex_init(&mark->lock, NULL);
  kw_cpu_condition_init(&mark->changed);
  mark->passed = false;
  mark->time = 0;
  return mark;
}

static marker *marker_retain(marker *mark) {
  if (mark) atomic_fetch_add(&mark->references, 1);
  return mark;
}

static void marker_release(marker *mark) {
  if (!mark || atomic_fetch_sub(&mark->references, 1) != 1) return;
  pthread_cond_destroy(&mark->changed);
  pthread_mutex_destroy(&mark->lock);
  free(mark);
}

static void marker_pass(marker *mark) {
  const uint64_t now = kw_cpu_now_ns();
  pthread_mutex_lock(&mark->lock);
  mark->passed = true;
  mark->time = now;
  pthread_cond_broadcast(&mark->changed);
  pthread_mutex_unlock(&mark->lock);
}

static kw_status marker_wait(marker *mark, uint64_t timeout_ns) {
  const kw_cpu_deadline end = kw_cpu_deadline_in(timeout_ns);
  pthread_mutex_lock(&mark->lock);
  while (!mark->passed && kw_cpu_wait(&mark->changed, &mark->lock, &end)) continue;
  const bool passed = mark->passed;
  pthread_mutex_unlock(&mark->lock);
  return passed ? KW_OK : KW_ERR_TIMEOUT;
}

/* False while the marker is ahead; *out_time is set otherwise. */
static bool marker_passed(marker *mark, uint64_t *out_time) {
  pthread_mutex_lock(&mark->lock);
  bool passed = mark->passed;
  *out_time = mark->time;
  pthread_mutex_unlock(&mark->lock);
  return passed;
}

/* The marker of the last record, held for the caller; NULL when there was none. */
static marker *event_last(event *source) {
  pthread_mutex_lock(&source->lock);
  marker *mark = marker_retain(source->last);
  pthread_mutex_unlock(&source->lock);
  return mark;
}

static kw_status event_create(void *device, const kw_event_info *info, void **out_event) {
  kw_cpu_device *cpu = device;
  kw_status status = kw_cpu_check_critical(cpu->host, info->flags, info->next);
  if (status != KW_OK) return status;
  event *fresh = malloc(sizeof *fresh);
  if (!fresh) return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an event");
  pthread_mutex_init(&fresh->lock, NULL);
  fresh->last = NULL;
  *out_event = fresh;
  return KW_OK;
}

static kw_status event_destroy(void *device, void *event_pointer) {
  event *old = event_pointer;
  (void)device;
  marker_release(old->last);
  pthread_mutex_destroy(&old->lock);
  free(old);
  return KW_OK;
}

typedef struct marker_task {
  kw_cpu_task task;
  marker *mark; /* one reference of its own */
} marker_task;

static kw_status run_pass(kw_cpu_stream *stream, kw_cpu_task *task) {
  marker *mark = ((marker_task *)task)->mark;
  (void)stream;
  marker_pass(mark);
  marker_release(mark);
  return KW_OK;
}

static kw_status run_wait(kw_cpu_stream *stream, kw_cpu_task *task) {
  marker *mark = ((marker_task *)task)->mark;
  (void)stream;
  marker_wait(mark, KW_WAIT_FOREVER);
  marker_release(mark);
  return KW_OK;
}

static kw_status event_record(void *device, void *event_pointer, void *stream_pointer) {
  kw_cpu_device *cpu = device;
  event *target = event_pointer;
  kw_cpu_stream *stream = stream_pointer;
  marker *mark = marker_create();
  if (!mark) return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an event's marker");
  marker_task *task = NULL;
  if (!stream->is_default) {
    task = kw_cpu_task_create(stream, sizeof *task, run_pass);
    if (!task) {
      marker_release(mark);
      return KW_ERR_OUT_OF_MEMORY;
    }
    task->mark = marker_retain(mark);
  }
  if (stream->is_default) { /* earlier work of other threads has finished once the lock is free */
    pthread_mutex_lock(&stream->lock);
    marker_pass(mark);
    pthread_mutex_unlock(&stream->lock);
  } else {
    kw_cpu_stream_submit(stream, &task->task);
  }
  pthread_mutex_lock(&target->lock);
  marker *old = target->last;
  target->last = mark;
  pthread_mutex_unlock(&target->lock);
  marker_release(old);
  return KW_OK;
}

static kw_status event_query(void *device, void *event_pointer) {
  marker *mark = event_last(event_pointer);
  uint64_t time;
  (void)device;
  bool passed = !mark || marker_passed(mark, &time);
  marker_release(mark);
  return passed ? KW_OK : KW_ERR_NOT_READY;
}

static kw_status event_synchronize(void *device, void *event_pointer, uint64_t timeout_ns) {
  marker *mark = event_last(event_pointer);
  (void)device;
  kw_status status = mark ? marker_wait(mark, timeout_ns) : KW_OK;
  marker_release(mark);
  return status;
}

static kw_status event_wait(void *device, void *stream_pointer, void *event_pointer) {
  kw_cpu_stream *stream = stream_pointer;
  marker *mark = event_last(event_pointer);
  (void)device;
  if (!mark) return KW_OK;
  if (stream->is_default) {
    pthread_mutex_lock(&stream->lock);
    marker_wait(mark, KW_WAIT_FOREVER);
    pthread_mutex_unlock(&stream->lock);
    marker_release(mark);
    return KW_OK;
  }
  marker_task *task = kw_cpu_task_create(stream, sizeof *task, run_wait);
  if (!task) {
    marker_release(mark);
    return KW_ERR_OUT_OF_MEMORY;
  }
  task->mark = mark;
  kw_cpu_stream_submit(stream, &task->task);
  return KW_OK;
}

static kw_status event_elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  const kw_host_api *host = ((kw_cpu_device *)device)->host;
  marker *first = event_last(start), *second = event_last(end);
  uint64_t from = 0, to = 0;
  kw_status status = KW_OK;
  if (!first || !second) {
    status = kw_cpu_error(host, KW_ERR_INVALID_ARGUMENT, "an event that was never recorded has no time");
  } else if (!marker_passed(first, &from) || !marker_passed(second, &to)) {
    status = KW_ERR_NOT_READY;
  } else if (to < from) {
    status = kw_cpu_error(host, KW_ERR_INVALID_ARGUMENT, "the end event passed before the start event");
  } else {
    *out_ns = to - from;
  }
  marker_release(first);
  marker_release(second);
  return status;
}

const kw_event_api kw_cpu_event_api = {
    .struct_size = sizeof(kw_event_api),
    .create = event_create,
    .destroy = event_destroy,
    .record = event_record,
    .query = event_query,
    .synchronize = event_synchronize,
    .wait = event_wait,
    .elapsed = event_elapsed,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * The event group: marks in streams, which are passed when all before them has finished.
 */
#include "kit.h"

#include <stdlib.h>

/* An event is where it was recorded last; commands that have to do with an earlier mark keep that. */
typedef struct queue_event {
  kw_queue_mark *mark; /* NULL: never recorded */
} queue_event;

static kw_status event_create(void *device_ptr, const kw_event_info *info, void **out_event) {
  kw_queue_device *device = device_ptr;
  kw_status status = kw_queue_check_critical(device->host, info->flags, info->next);
  if (status != KW_OK) return status;
  queue_event *event = calloc(1, sizeof *event);
  if (!event) return kw_queue_fail(device->host, KW_ERR_OUT_OF_MEMORY, "event.create: no host memory");
  *out_event = event;
  return KW_OK;
}

static kw_status event_destroy(void *device_ptr, void *event_ptr) {
  kw_queue_device *device = device_ptr;
  queue_event *event = event_ptr;
  pthread_mutex_lock(&device->lock);
  kw_queue_mark_release(event->mark);
  pthread_mutex_unlock(&device->lock);
  free(event);
  return KW_OK;
}

static kw_status event_record(void *device_ptr, void *event_ptr, void *stream) {
  kw_queue_device *device = device_ptr;
  queue_event *event = event_ptr;
  kw_queue_command *command = kw_queue_command_make(stream, KW_QUEUE_RECORD, 0);
  kw_queue_mark *mark = command ? calloc(1, sizeof *mark) : NULL;
  if (!mark) {
    free(command);
    return kw_queue_fail(device->host, KW_ERR_OUT_OF_MEMORY, "event.record: no host memory");
  }
  mark->references = 2;
  command->mark = mark;
  pthread_mutex_lock(&device->lock);
  kw_queue_mark_release(event->mark);
  event->mark = mark;
  kw_queue_command_put_locked(command); /* at once: nobody waits for a mark that is not in its stream yet */
  pthread_mutex_unlock(&device->lock);
  return KW_OK;
}

static kw_status event_wait(void *device_ptr, void *stream, void *event_ptr) {
  kw_queue_device *device = device_ptr;
  const queue_event *event = event_ptr;
  kw_queue_command *command = kw_queue_command_make(stream, KW_QUEUE_WAIT, 0);
  if (!command) return KW_ERR_OUT_OF_MEMORY;
  pthread_mutex_lock(&device->lock);
  kw_queue_mark *mark = event->mark; /* NULL: a fresh event counts as passed */
  if (mark) {
    ++mark->references;
    command->mark = mark;
    kw_queue_command_put_locked(command);
  }
  pthread_mutex_unlock(&device->lock);
  if (!mark) free(command);
  return KW_OK;
}

static bool has_passed(const kw_queue_device *device, const kw_queue_mark *mark) {
  return !mark || (mark->passed && kw_queue_all_told(device));
}

static kw_status event_query(void *device_ptr, void *event_ptr) {
  kw_queue_device *device = device_ptr;
  const queue_event *event = event_ptr;
  pthread_mutex_lock(&device->lock);
  const bool passed = has_passed(device, event->mark);
  pthread_mutex_unlock(&device->lock);
  return passed ? KW_OK : KW_ERR_NOT_READY;
}

static kw_status event_synchronize(void *device_ptr, void *event_ptr, uint64_t timeout_ns) {
  kw_queue_device *device = device_ptr;
  queue_event *event = event_ptr;
  const kw_queue_deadline deadline = kw_queue_deadline_in(timeout_ns);
  pthread_mutex_lock(&device->lock);
  kw_queue_mark *mark = event->mark;
  if (mark) ++mark->references; /* the event may be recorded anew meanwhile */
  while (!has_passed(device, mark) && kw_queue_wait_changed(device, &deadline)) continue;
  const kw_status status = has_passed(device, mark) ? KW_OK : KW_ERR_TIMEOUT;
  kw_queue_mark_release(mark);
  pthread_mutex_unlock(&device->lock);
  return status;
}

const kw_event_api kw_queue_event_slots = {.struct_size = sizeof(kw_event_api),
                                           .create = event_create,
                                           .destroy = event_destroy,
                                           .record = event_record,
                                           .query = event_query,
                                           .synchronize = event_synchronize,
                                           .wait = event_wait};

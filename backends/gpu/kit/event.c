/* SPDX-License-Identifier: Apache-2.0
 *
 * The event group where an event of the runtime is good for one record and counts references: an event here holds that
 * of its last record. Every use of that one takes a reference too, so that recording again and destroying disturb no
 * wait.
 */
#include "kit/event.h"

#include <stdlib.h>

typedef struct event {
  const kw_gpu_driver *driver;
  pthread_mutex_t lock;
  void *last; /* the runtime's event of the last record; NULL before the first */
} event;

/* Takes over a reference to `next`. */
static void set_last(event *self, void *next) {
  pthread_mutex_lock(&self->lock);
  void *before = self->last;
  self->last = next;
  pthread_mutex_unlock(&self->lock);
  if (before) self->driver->event_drop(before);
}

/* The runtime's event of the last record with a reference for the caller, or NULL. */
static void *get_last(event *self) {
  pthread_mutex_lock(&self->lock);
  void *last = self->last;
  if (last) self->driver->event_keep(last);
  pthread_mutex_unlock(&self->lock);
  return last;
}

static void drop(const event *self, void *last) {
  if (last) self->driver->event_drop(last);
}

static kw_status event_create(void *state, const kw_event_info *info, void **out_event) {
  const kw_gpu_device *device = state;
  kw_status status = kw_gpu_check_critical(device->host, info->flags, info->next);
  if (status != KW_OK) return status;
  event *self = calloc(1, sizeof *self);
  if (!self) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an event");
  self->driver = device->driver;
  pthread_mutex_init(&self->lock, NULL);
  *out_event = self;
  return KW_OK;
}

static kw_status event_destroy(void *device, void *handle) {
  event *self = handle;
  (void)device;
  drop(self, self->last);
  pthread_mutex_destroy(&self->lock);
  free(self);
  return KW_OK;
}

static kw_status event_record(void *device, void *handle, void *stream) {
  event *self = handle;
  void *recorded = NULL;
  (void)device;
  kw_status status = self->driver->event_record(stream, &recorded);
  if (status == KW_OK) set_last(self, recorded);
  return status;
}

static kw_status event_query(void *device, void *handle) {
  event *self = handle;
  void *last = get_last(self);
  kw_status status = last ? self->driver->event_query(device, last) : KW_OK;
  drop(self, last);
  return status;
}

static kw_status event_synchronize(void *device, void *handle, uint64_t timeout_ns) {
  event *self = handle;
  void *last = get_last(self);
  kw_status status = last ? self->driver->event_synchronize(device, last, timeout_ns) : KW_OK;
  drop(self, last);
  return status;
}

static kw_status event_wait(void *device, void *stream, void *handle) {
  event *self = handle;
  void *last = get_last(self);
  (void)device;
  kw_status status = last ? self->driver->event_wait(stream, last) : KW_OK;
  drop(self, last);
  return status;
}

static kw_status event_elapsed(void *state, void *start, void *end, uint64_t *out_ns) {
  kw_gpu_device *device = state;
  void *from = get_last(start), *to = get_last(end);
  kw_status status =
      from && to ? device->driver->event_elapsed(device, from, to, out_ns)
                 : kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "an event that was never recorded has no time");
  drop(start, from);
  drop(end, to);
  return status;
}

kw_event_api kw_gpu_event_slots(void) {
  return (kw_event_api){
      .struct_size = sizeof(kw_event_api),
      .create = event_create,
      .destroy = event_destroy,
      .record = event_record,
      .query = event_query,
      .synchronize = event_synchronize,
      .wait = event_wait,
      .elapsed = event_elapsed,
  };
}

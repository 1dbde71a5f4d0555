/* SPDX-License-Identifier: Apache-2.0
 *
 * Two short arrays: few devices, and few streams.
 */
#include "isolate/objects.h"

#include "base/array.h"

#include <stdlib.h>

typedef struct stream_row {
  uint64_t handle, token;
} stream_row;

struct kw_objects {
  pthread_mutex_t lock;
  kw_target **devices;
  uint32_t device_count;
  stream_row *streams;
  uint32_t stream_count;
};

struct kw_objects *kw_objects_make(void) {
  struct kw_objects *objects = calloc(1, sizeof *objects);
  if (objects != NULL) pthread_mutex_init(&objects->lock, NULL);
  return objects;
}

void kw_objects_free(struct kw_objects *objects) {
  if (objects == NULL) return;
  free(objects->devices);
  free(objects->streams);
  pthread_mutex_destroy(&objects->lock);
  free(objects);
}

bool kw_objects_add_device(struct kw_objects *objects, kw_target *device) {
  pthread_mutex_lock(&objects->lock);
  kw_target **devices = kw_array_grow(objects->devices, objects->device_count, sizeof(kw_target *));
  if (devices != NULL) {
    objects->devices = devices;
    devices[objects->device_count++] = device;
  }
  pthread_mutex_unlock(&objects->lock);
  return devices != NULL;
}

void kw_objects_remove_device(struct kw_objects *objects, const kw_target *device) {
  pthread_mutex_lock(&objects->lock);
  for (uint32_t i = 0; i < objects->device_count; i++) {
    if (objects->devices[i] == device) objects->devices[i--] = objects->devices[--objects->device_count];
  }
  pthread_mutex_unlock(&objects->lock);
}

kw_target *kw_objects_device(struct kw_objects *objects, uint64_t handle) {
  kw_target *found = NULL;
  pthread_mutex_lock(&objects->lock);
  for (uint32_t i = 0; i < objects->device_count; i++) {
    if (objects->devices[i]->handle == handle) found = objects->devices[i];
  }
  pthread_mutex_unlock(&objects->lock);
  return found;
}

bool kw_objects_add_stream(struct kw_objects *objects, uint64_t handle, uint64_t token) {
  pthread_mutex_lock(&objects->lock);
  stream_row *streams = kw_array_grow(objects->streams, objects->stream_count, sizeof *streams);
  if (streams != NULL) {
    objects->streams = streams;
    streams[objects->stream_count++] = (stream_row){handle, token};
  }
  pthread_mutex_unlock(&objects->lock);
  return streams != NULL;
}

void kw_objects_remove_stream(struct kw_objects *objects, uint64_t handle) {
  pthread_mutex_lock(&objects->lock);
  for (uint32_t i = 0; i < objects->stream_count; i++) {
    if (objects->streams[i].handle == handle) objects->streams[i--] = objects->streams[--objects->stream_count];
  }
  pthread_mutex_unlock(&objects->lock);
}

bool kw_objects_has_token(struct kw_objects *objects, uint64_t token) {
  bool found = false;
  pthread_mutex_lock(&objects->lock);
  for (uint32_t i = 0; i < objects->stream_count; i++) found = found || objects->streams[i].token == token;
  pthread_mutex_unlock(&objects->lock);
  return found;
}

/* A token of the list at a time: core has locks of its own that it takes. */
void kw_objects_report_lost(struct kw_objects *objects, const kw_host_api *host, const char *text) {
  for (;;) {
    pthread_mutex_lock(&objects->lock);
    const uint64_t token = objects->stream_count > 0 ? objects->streams[--objects->stream_count].token : 0;
    pthread_mutex_unlock(&objects->lock);
    if (token == 0) return;
    host->report_async_error(host->ctx, token, 0, KW_ERR_DEVICE_LOST, text);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <keyway/gpu.h>
#include <pthread.h>
#include <stdlib.h>

struct kw_gpu_marker {
  const kw_gpu_marker_api *api;
  pthread_mutex_t lock;
  void *event; /* NULL before the first record */
};

kw_gpu_marker *kw_gpu_marker_create(const kw_gpu_marker_api *api) {
  kw_gpu_marker *marker = calloc(1, sizeof *marker);
  if (!marker) return NULL;
  marker->api = api;
  pthread_mutex_init(&marker->lock, NULL);
  return marker;
}

void kw_gpu_marker_set(kw_gpu_marker *marker, void *event) {
  pthread_mutex_lock(&marker->lock);
  void *old = marker->event;
  marker->event = event;
  pthread_mutex_unlock(&marker->lock);
  if (old) marker->api->drop(old);
}

void *kw_gpu_marker_get(kw_gpu_marker *marker) {
  pthread_mutex_lock(&marker->lock);
  void *event = marker->event;
  if (event) marker->api->keep(event);
  pthread_mutex_unlock(&marker->lock);
  return event;
}

void kw_gpu_marker_destroy(kw_gpu_marker *marker) {
  kw_gpu_marker_set(marker, NULL);
  pthread_mutex_destroy(&marker->lock);
  free(marker);
}

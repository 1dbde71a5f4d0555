/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records: when which thread of ours ran what. The device's clock is the host's.
 */
#include "cpu.h"
#include "wait.h"

#include <stdlib.h>

#define RECORD_LIMIT 16384u /* records that wait to be drained */

struct kw_cpu_activity {
  atomic_bool on;
  pthread_mutex_t lock; /* guards the fields below */
  uint64_t dropped;
  uint32_t first, count; /* of the records, which lie in a ring */
  kw_activity records[RECORD_LIMIT];
};

kw_cpu_activity *kw_cpu_activity_create(void) {
  kw_cpu_activity *activity = calloc(1, sizeof *activity); /* its pages come when there are records for them */
  if (activity) pthread_mutex_init(&activity->lock, NULL);
  return activity;
}

void kw_cpu_activity_free(kw_cpu_activity *activity) {
  pthread_mutex_destroy(&activity->lock);
  free(activity);
}

uint64_t kw_cpu_activity_begin(const kw_cpu_stream *stream) {
  return atomic_load_explicit(&stream->device->activity->on, memory_order_relaxed) ? kw_cpu_now_ns() : 0;
}

void kw_cpu_activity_end(const kw_cpu_stream *stream, kw_activity_kind kind, uint64_t call_id, uint64_t begin) {
  if (begin == 0) return;
  kw_cpu_activity_add(stream, &(kw_activity){.kind = kind, .call_id = call_id, .begin = begin, .end = kw_cpu_now_ns()});
}

void kw_cpu_activity_add(const kw_cpu_stream *stream, const kw_activity *record) {
  kw_cpu_activity *activity = stream->device->activity;
  pthread_mutex_lock(&activity->lock);
  if (activity->count < RECORD_LIMIT) {
    kw_activity *added = &activity->records[(activity->first + activity->count++) % RECORD_LIMIT];
    *added = *record;
    added->stream_token = stream->token;
  } else {
    activity->dropped++;
  }
  pthread_mutex_unlock(&activity->lock);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status activity_record(void *device, uint32_t on) {
  atomic_store(&((kw_cpu_device *)device)->activity->on, on != 0);
  return KW_OK;
}

static kw_status activity_clock(void *device, uint64_t *out_device_ns, uint64_t *out_host_ns) {
  (void)device;
  *out_device_ns = *out_host_ns = kw_cpu_now_ns();
  return KW_OK;
}

static kw_status activity_drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                                uint64_t *out_dropped) {
  kw_cpu_activity *activity = ((kw_cpu_device *)device)->activity;
  *out_count = 0;
  pthread_mutex_lock(&activity->lock);
  while (*out_count < capacity && activity->count > 0) {
    kw_activity_store(out, record_size, (*out_count)++, &activity->records[activity->first]);
    activity->first = (activity->first + 1) % RECORD_LIMIT;
    activity->count--;
  }
  *out_dropped = activity->dropped;
  activity->dropped = 0;
  pthread_mutex_unlock(&activity->lock);
  return KW_OK;
}

const kw_activity_api kw_cpu_activity_api = {
    .struct_size = sizeof(kw_activity_api),
    .record = activity_record,
    .clock = activity_clock,
    .drain = activity_drain,
};

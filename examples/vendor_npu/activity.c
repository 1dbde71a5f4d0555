/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records: when the workers ran what. With a real driver the stamps come from its profiling events; here each
 * worker takes them around a command. The device's clock counts from open.
 */
#include "npu.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define RECORD_LIMIT 16384u /* records that wait to be drained */

struct npu_activity {
  uint64_t opened; /* on CLOCK_MONOTONIC, nanoseconds: when the device's clock was 0 */
  atomic_bool on;
  pthread_mutex_t lock; /* everything below */
  uint64_t dropped;
  uint32_t first, count; /* of the records, which lie in a ring */
  kw_activity records[RECORD_LIMIT];
};

static uint64_t monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

npu_activity *npu_activity_create(void) {
  npu_activity *activity = calloc(1, sizeof *activity); /* its pages come when records do */
  if (activity != NULL) {
    activity->opened = monotonic();
    pthread_mutex_init(&activity->lock, NULL);
  }
  return activity;
}

void npu_activity_destroy(npu_activity *activity) {
  if (activity != NULL) {
    pthread_mutex_destroy(&activity->lock);
    free(activity);
  }
}

uint64_t npu_activity_begin(npu_activity *activity) {
  return atomic_load(&activity->on) ? monotonic() - activity->opened : 0;
}

void npu_activity_end(npu_activity *activity, kw_activity_kind kind, uint64_t call_id, uint64_t token, uint64_t begin) {
  if (begin == 0) {
    return; /* recording was off */
  }
  kw_activity record = {.kind = kind, .call_id = call_id, .stream_token = token, .begin = begin};
  record.end = monotonic() - activity->opened;
  pthread_mutex_lock(&activity->lock);
  if (activity->count < RECORD_LIMIT) {
    activity->records[(activity->first + activity->count) % RECORD_LIMIT] = record;
    ++activity->count;
  } else {
    ++activity->dropped;
  }
  pthread_mutex_unlock(&activity->lock);
}

/* ---- The slots -------------------------------------------------------------------------------------------------- */

static kw_status npu_record(void *device_ptr, uint32_t on) {
  npu_device *device = device_ptr;
  atomic_store(&device->activity->on, on != 0);
  return KW_OK;
}

static kw_status npu_clock(void *device_ptr, uint64_t *out_device_ns, uint64_t *out_host_ns) {
  npu_device *device = device_ptr;
  *out_host_ns = monotonic();
  *out_device_ns = *out_host_ns - device->activity->opened;
  return KW_OK;
}

static kw_status npu_drain(void *device_ptr, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                           uint64_t *out_dropped) {
  npu_activity *activity = ((npu_device *)device_ptr)->activity;
  pthread_mutex_lock(&activity->lock);
  uint32_t count = activity->count < capacity ? activity->count : capacity;
  for (uint32_t i = 0; i < count; ++i) {
    kw_activity_store(out, record_size, i, &activity->records[(activity->first + i) % RECORD_LIMIT]);
  }
  activity->first = (activity->first + count) % RECORD_LIMIT;
  activity->count -= count;
  *out_count = count;
  *out_dropped = activity->dropped;
  activity->dropped = 0;
  pthread_mutex_unlock(&activity->lock);
  return KW_OK;
}

const kw_activity_api npu_activity_api = {
    .struct_size = sizeof(kw_activity_api),
    .record = npu_record,
    .clock = npu_clock,
    .drain = npu_drain,
};

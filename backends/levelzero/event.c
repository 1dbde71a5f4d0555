/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: of the driver, in pools that grow and used again; and the plugin's, each of which holds the driver's event of
 * its last record.
 */
#include "levelzero.h"

#include <stdlib.h>

/* ---- The driver's ------------------------------------------------------------------------------------------------ */

#define POOL_EVENTS 64

typedef struct lz_pool {
  struct lz_pool *next;
  ze_event_pool_handle_t handle;
  uint32_t count;
  lz_event events[POOL_EVENTS];
} lz_pool;

/* More unused events; the device is locked. */
static ze_result_t add_pool(lz_device *device) {
  const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                     .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                     .count = POOL_EVENTS};
  lz_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  ze_result_t result = ze.EventPoolCreate(device->context, &desc, 1, &device->id, &pool->handle);
  if (result != ZE_RESULT_SUCCESS) {
    free(pool);
    return result;
  }
  pool->next = device->pools;
  device->pools = pool;
  for (uint32_t i = 0; i < POOL_EVENTS && result == ZE_RESULT_SUCCESS; ++i) {
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                   .index = i,
                                   .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                   .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    result = ze.EventCreate(pool->handle, &event, &pool->events[i].handle);
    if (result != ZE_RESULT_SUCCESS) break;
    pool->events[i].device = device;
    pool->events[i].next = device->unused;
    device->unused = &pool->events[i];
    ++pool->count;
  }
  return result;
}

ze_result_t lz_event_take(lz_device *device, lz_event **out_event) {
  ze_result_t result = ZE_RESULT_SUCCESS;
  pthread_mutex_lock(&device->lock);
  if (!device->unused) result = add_pool(device);
  if (device->unused) {
    *out_event = device->unused;
    device->unused = device->unused->next;
    atomic_store(&(*out_event)->references, 1);
    result = ZE_RESULT_SUCCESS;
  }
  pthread_mutex_unlock(&device->lock);
  return result;
}

ze_result_t lz_event_wait(lz_event *event, uint64_t timeout_ns) {
  ze_result_t result = atomic_load(&event->failure);
  if (result != ZE_RESULT_SUCCESS) return result;
  result = timeout_ns > 0 ? ze.EventHostSynchronize(event->handle, timeout_ns) : ze.EventQueryStatus(event->handle);
  if (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_NOT_READY) return result;
  pthread_mutex_lock(&event->device->lock);
  if (event->failure == ZE_RESULT_SUCCESS)
    lz_explain(event->device->driver, result, "a command failed on the device", event->text, sizeof event->text);
  atomic_store(&event->failure, result);
  pthread_mutex_unlock(&event->device->lock);
  return result;
}

void lz_event_keep(void *handle) {
  lz_event *event = handle;
  if (event) atomic_fetch_add(&event->references, 1);
}

void lz_event_drop(void *handle) {
  lz_event *event = handle;
  if (!event || atomic_fetch_sub(&event->references, 1) != 1) return;
  lz_device *device = event->device;
  ze.EventHostReset(event->handle);
  atomic_store(&event->failure, ZE_RESULT_SUCCESS);
  pthread_mutex_lock(&device->lock);
  event->next = device->unused;
  device->unused = event;
  pthread_mutex_unlock(&device->lock);
}

void lz_events_finish(lz_device *device) {
  for (lz_pool *pool = device->pools, *next; pool; pool = next) {
    next = pool->next;
    for (uint32_t i = 0; i < pool->count; ++i) ze.EventDestroy(pool->events[i].handle);
    ze.EventPoolDestroy(pool->handle);
    free(pool);
  }
}

/* ---- The plugin's ------------------------------------------------------------------------------------------------ */

static const kw_gpu_marker_api markers = {lz_event_keep, lz_event_drop};

static kw_status event_create(void *device, void **out_event) {
  *out_event = kw_gpu_marker_create(&markers);
  return lz_check(device, *out_event ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "creating an event");
}

static kw_status event_destroy(void *device, void *event) {
  (void)device;
  kw_gpu_marker_destroy(event);
  return KW_OK;
}

/* Appends a barrier behind everything before it, and behind `other`; `marker`, when there is one, gets its event. */
static kw_status append_barrier(lz_stream *stream, lz_event *other, kw_gpu_marker *marker) {
  lz_command command = lz_stream_begin(stream, other);
  if (command.result == ZE_RESULT_SUCCESS)
    command.result = ze.CommandListAppendBarrier(command.list, command.signal, command.wait_count, command.waits);
  if (command.result == ZE_RESULT_SUCCESS && marker) {
    lz_event_keep(command.event);
    kw_gpu_marker_set(marker, command.event);
  }
  return lz_stream_end(stream, &command, 0, "zeCommandListAppendBarrier");
}

static kw_status event_record(void *device, void *marker, void *stream) {
  (void)device;
  return append_barrier(stream, NULL, marker);
}

static kw_status event_wait(void *device, void *stream, void *marker) {
  (void)device;
  lz_event *event = kw_gpu_marker_get(marker);
  kw_status status = event ? append_barrier(stream, event, NULL) : KW_OK;
  lz_event_drop(event);
  return status;
}

/* Work that failed has passed as well: its stream reports the failure. */
static kw_status event_query(void *device, void *marker) {
  (void)device;
  lz_event *event = kw_gpu_marker_get(marker);
  ze_result_t result = event ? lz_event_wait(event, 0) : ZE_RESULT_SUCCESS;
  lz_event_drop(event);
  return result == ZE_RESULT_NOT_READY ? KW_ERR_NOT_READY : KW_OK;
}

static kw_status event_synchronize(void *device, void *marker) {
  (void)device;
  lz_event *event = kw_gpu_marker_get(marker);
  if (event) lz_event_wait(event, UINT64_MAX);
  lz_event_drop(event);
  return KW_OK;
}

/* When the device passed the marker, in cycles of its clock. */
static ze_result_t event_cycles(void *marker, uint64_t *out_cycles) {
  ze_kernel_timestamp_result_t stamp;
  lz_event *event = kw_gpu_marker_get(marker);
  ze_result_t result = event ? ze.EventQueryKernelTimestamp(event->handle, &stamp) : ZE_RESULT_NOT_READY;
  lz_event_drop(event);
  if (result == ZE_RESULT_SUCCESS) *out_cycles = stamp.global.kernelEnd;
  return result;
}

static kw_status event_elapsed(void *state, void *start, void *end, uint64_t *out_ns) {
  const lz_device *device = state;
  uint64_t from = 0, to = 0;
  ze_result_t result = event_cycles(start, &from);
  if (result == ZE_RESULT_SUCCESS) result = event_cycles(end, &to);
  if (result == ZE_RESULT_SUCCESS && device->cycles_per_second == 0) result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (result != ZE_RESULT_SUCCESS) {
    lz_check(device, result, "zeEventQueryKernelTimestamp");
    return KW_ERR_UNSUPPORTED;
  }
  uint64_t cycles = (to - from) & device->cycle_mask;
  uint64_t seconds = cycles / device->cycles_per_second, rest = cycles % device->cycles_per_second;
  /* More than half of the clock's range: `end` was passed first. */
  *out_ns = cycles > device->cycle_mask / 2
                ? 0
                : seconds * 1000000000u + (uint64_t)((double)rest * 1e9 / (double)device->cycles_per_second);
  return KW_OK;
}

const kw_event_api lz_event_api = {
    .struct_size = sizeof lz_event_api,
    .create = event_create,
    .destroy = event_destroy,
    .record = event_record,
    .query = event_query,
    .synchronize = event_synchronize,
    .wait = event_wait,
    .elapsed = event_elapsed,
};

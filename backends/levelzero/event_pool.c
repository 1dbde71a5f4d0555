/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's events: in pools that grow, counted by reference and used again.
 */
#include "levelzero.h"

#include <stdlib.h>

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
  pthread_mutex_lock(&device->base.lock);
  if (!device->unused) result = add_pool(device);
  if (device->unused) {
    *out_event = device->unused;
    device->unused = device->unused->next;
    atomic_store(&(*out_event)->references, 1);
    result = ZE_RESULT_SUCCESS;
  }
  pthread_mutex_unlock(&device->base.lock);
  return result;
}

ze_result_t lz_event_wait(lz_event *event, uint64_t timeout_ns) {
  ze_result_t result = atomic_load(&event->failure);
  if (result != ZE_RESULT_SUCCESS) return result;
  result = timeout_ns > 0 ? ze.EventHostSynchronize(event->handle, timeout_ns) : ze.EventQueryStatus(event->handle);
  if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) lz_event_fail(event, result);
  return result;
}

void lz_event_fail(lz_event *event, ze_result_t result) {
  pthread_mutex_lock(&event->device->base.lock);
  if (event->failure == ZE_RESULT_SUCCESS) {
    lz_explain(event->device->driver, result, "a command failed on the device", event->text, sizeof event->text);
    atomic_store(&event->failure, result);
  }
  pthread_mutex_unlock(&event->device->base.lock);
}

void lz_event_keep(void *handle) {
  lz_event *event = handle;
  if (event) atomic_fetch_add(&event->references, 1);
}

void lz_event_drop(void *handle) {
  lz_event *event = handle;
  if (!event || atomic_fetch_sub(&event->references, 1) != 1) return;
  lz_device *device = event->device;
  lz_event_drop(event->start);
  event->start = NULL;
  ze.EventHostReset(event->handle);
  atomic_store(&event->failure, ZE_RESULT_SUCCESS);
  pthread_mutex_lock(&device->base.lock);
  event->next = device->unused;
  device->unused = event;
  pthread_mutex_unlock(&device->base.lock);
}

void lz_events_finish(lz_device *device) {
  for (lz_pool *pool = device->pools, *next; pool; pool = next) {
    next = pool->next;
    for (uint32_t i = 0; i < pool->count; ++i) ze.EventDestroy(pool->events[i].handle);
    ze.EventPoolDestroy(pool->handle);
    free(pool);
  }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Event pools and events: on or off. */
#include "emulated.h"

#include <stdlib.h>

/* ---- Pools ------------------------------------------------------------------------------------------------------- */

static ze_result_t pool_create(ze_context_handle_t context, const ze_event_pool_desc_t *desc, uint32_t device_count,
                               ze_device_handle_t *some, ze_event_pool_handle_t *out) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  EMU_CHECK_POINTER(out);
  if (desc->count == 0) return emu_fail(ZE_RESULT_ERROR_INVALID_SIZE, "a pool of no events");
  if (device_count > 0) EMU_CHECK_POINTER(some);
  for (uint32_t i = 0; i < device_count; ++i) EMU_CHECK(some[i], EMU_DEVICE);
  *out = emu_create(EMU_EVENT_POOL, sizeof **out + desc->count * sizeof *(*out)->taken, context);
  if (!*out) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->context = context;
  (*out)->device = device_count == 1 ? some[0] : NULL;
  (*out)->flags = desc->flags;
  (*out)->count = desc->count;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t pool_destroy(ze_event_pool_handle_t pool) {
  EMU_CHECK(pool, EMU_EVENT_POOL);
  if (pool->events > 0)
    return emu_fail(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "emulated: %d events of the pool are left", pool->events);
  emu_destroy(pool, pool->context);
  return ZE_RESULT_SUCCESS;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static ze_result_t event_create(ze_event_pool_handle_t pool, const ze_event_desc_t *desc, ze_event_handle_t *out) {
  EMU_CHECK(pool, EMU_EVENT_POOL);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_EVENT_DESC);
  EMU_CHECK_POINTER(out);
  if (desc->index >= pool->count) return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the pool has no such index");
  if (atomic_exchange(&pool->taken[desc->index], true))
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: index %u of the pool is taken", desc->index);
  *out = emu_create(EMU_EVENT, sizeof **out, NULL);
  if (!*out) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->pool = pool;
  (*out)->index = desc->index;
  ++pool->events;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t event_destroy(ze_event_handle_t event) {
  EMU_CHECK(event, EMU_EVENT);
  event->pool->taken[event->index] = false;
  --event->pool->events;
  emu_destroy(event, NULL);
  return ZE_RESULT_SUCCESS;
}

/* An event that the host may look at. */
static ze_result_t check_visible(ze_event_handle_t event) {
  EMU_CHECK(event, EMU_EVENT);
  if (event->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) return ZE_RESULT_SUCCESS;
  return emu_fail(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "the event's pool is not visible to the host");
}

ze_result_t emu_check_events(uint32_t count, ze_event_handle_t *events) {
  if (count > 0 && !events)
    return emu_fail(ZE_RESULT_ERROR_INVALID_SIZE, "%u events to wait for, and no list of them", count);
  for (uint32_t i = 0; i < count; ++i) EMU_CHECK(events[i], EMU_EVENT);
  return ZE_RESULT_SUCCESS;
}

ze_result_t emu_wait(kw_engine_event *event, uint64_t timeout_ns, ze_context_handle_t context,
                     ze_device_handle_t device) {
  const uint64_t slice = 50000000, begin = kw_engine_now_ns();
  for (;;) {
    const uint64_t passed = kw_engine_now_ns() - begin, left = timeout_ns > passed ? timeout_ns - passed : 0;
    kw_engine_status status = kw_engine_event_wait(event, 1, left < slice ? left : slice);
    if (status == KW_ENGINE_NOT_READY && device) EMU_TRY(emu_check_lost(context, device));
    if (status != KW_ENGINE_NOT_READY || left <= slice) return emu_answer(status);
  }
}

static ze_result_t event_host_synchronize(ze_event_handle_t event, uint64_t timeout_ns) {
  EMU_TRY(check_visible(event));
  return emu_wait(&event->event, timeout_ns, event->pool->context, event->pool->device);
}

static ze_result_t event_query_status(ze_event_handle_t event) {
  return event_host_synchronize(event, 0);
}

static ze_result_t event_host_signal(ze_event_handle_t event) {
  EMU_TRY(check_visible(event));
  kw_engine_event_signal(&event->event, 1);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t event_host_reset(ze_event_handle_t event) {
  EMU_TRY(check_visible(event));
  kw_engine_event_reset(&event->event);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t event_query_kernel_timestamp(ze_event_handle_t event, ze_kernel_timestamp_result_t *out) {
  EMU_TRY(check_visible(event));
  EMU_CHECK_POINTER(out);
  if (!(event->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP))
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event's pool has no timestamps");
  uint64_t begin, end;
  if (!kw_engine_event_times(&event->event, 1, &begin, &end)) return ZE_RESULT_NOT_READY;
  out->global.kernelStart = emu_stamp(begin, EMU_STAMP_BITS);
  out->global.kernelEnd = emu_stamp(end, EMU_STAMP_BITS);
  out->context = out->global;
  return ZE_RESULT_SUCCESS;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

void emu_fill_event_pool(ze_event_pool_dditable_t *table) {
  table->pfnCreate = pool_create;
  table->pfnDestroy = pool_destroy;
}

void emu_fill_event(ze_event_dditable_t *table) {
  table->pfnCreate = event_create;
  table->pfnDestroy = event_destroy;
  table->pfnHostSignal = event_host_signal;
  table->pfnHostSynchronize = event_host_synchronize;
  table->pfnQueryStatus = event_query_status;
  table->pfnHostReset = event_host_reset;
  table->pfnQueryKernelTimestamp = event_query_kernel_timestamp;
}

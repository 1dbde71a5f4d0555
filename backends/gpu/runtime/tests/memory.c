/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the test driver: allocations, copies, fills.
 */
#include "driver.h"

#include <string.h>

/* ---- Allocating -------------------------------------------------------------------------------------------------- */

static int allocate_at(kw_engine_memory_kind kind, size_t size, size_t alignment, void **out) {
  context *home;
  int error = driver_enter(&home);
  return error ? error : driver_error(home, kw_engine_alloc(home->device, kind, size, alignment, out));
}

static int allocate(kw_engine_memory_kind kind, size_t size, void **out) {
  return allocate_at(kind, size, 256, out);
}

static int release(void *memory, kw_engine_memory_kind kind) {
  context *home;
  int error = driver_enter(&home);
  /* Freeing on a broken context says so, and frees: an emulated device's memory is this process's own. */
  kw_engine_allocation found;
  if (!driver_context() || !driver_owns(driver_context(), memory, 1, kind)) return INVALID_VALUE;
  if (!kw_engine_find(memory, &found)) return INVALID_VALUE;
  if (found.kind == KW_ENGINE_MEMORY_SHARED) found.kind = KW_ENGINE_MEMORY_DEVICE; /* one function frees both */
  if (found.kind != kind) return INVALID_VALUE;
  driver_unname(memory);
  kw_engine_status status = kw_engine_free(memory);
  return error ? error : driver_error(home, status);
}

API(cuMemAlloc_v2, hipMalloc)(void **memory, size_t size) {
  int error = allocate_at(KW_ENGINE_MEMORY_DEVICE, size, size % DRIVER_BLOCK == 0 ? 4096 : 256, memory);
  if (error) return error;
  error = driver_may_name(*memory, size);
  if (error) kw_engine_free(*memory);
  return error;
}

API(cuMemFree_v2, hipFree)(void *memory) {
  return release(memory, KW_ENGINE_MEMORY_DEVICE);
}

API(cuMemHostAlloc, hipHostMalloc)(void **memory, size_t size, unsigned flags) {
  return flags > 7 ? INVALID_VALUE : allocate(KW_ENGINE_MEMORY_HOST, size, memory);
}

API(cuMemAllocManaged, hipMallocManaged)(void **memory, size_t size, unsigned flags) {
  return flags != 1 && flags != 2 ? INVALID_VALUE : allocate(KW_ENGINE_MEMORY_SHARED, size, memory);
}

API(cuMemFreeHost, hipHostFree)(void *memory) {
  return release(memory, KW_ENGINE_MEMORY_HOST);
}

API(cuMemHostRegister_v2, hipHostRegister)(void *memory, size_t size, unsigned flags) {
  context *home;
  int error = driver_enter(&home);
  if (error) return error;
  if (!memory || size == 0 || flags > 15) return INVALID_VALUE;
  return kw_engine_adopt(memory, size) == KW_ENGINE_OK ? OK : ALREADY_REGISTERED;
}

API(cuMemHostUnregister, hipHostUnregister)(void *memory) {
  context *home;
  int error = driver_enter(&home);
  return kw_engine_disown(memory) == KW_ENGINE_OK ? error : NOT_REGISTERED;
}

API(cuMemHostGetDevicePointer_v2, hipHostGetDevicePointer)(void **out, void *memory, unsigned flags) {
  context *home;
  int error = driver_enter(&home);
  if (error) return error;
  if (flags != 0 || !driver_owns(home, memory, 1, KW_ENGINE_MEMORY_DEVICE)) return INVALID_VALUE;
  *out = memory;
  return OK;
}

/* In order with what the stream has: when that has ended. */
API(cuMemAllocAsync, hipMallocAsync)(void **memory, size_t size, void *handle) {
  stream *on;
  int error = driver_check_stream(handle, &on);
  if (!error) error = driver_error(on->home, kw_engine_queue_wait(on->queue, KW_ENGINE_FOREVER));
  return error ? error : allocate(KW_ENGINE_MEMORY_DEVICE, size, memory);
}

API(cuMemFreeAsync, hipFreeAsync)(void *memory, void *handle) {
  stream *on;
  int error = driver_check_stream(handle, &on);
  if (!error) error = driver_error(on->home, kw_engine_queue_wait(on->queue, KW_ENGINE_FOREVER));
  int freed = release(memory, KW_ENGINE_MEMORY_DEVICE);
  return error ? error : freed;
}

/* ---- Copies and fills -------------------------------------------------------------------------------------------- */

static int push_copy(stream *on, void *to, const void *from, size_t size) {
  kw_engine_task task = {.kind = KW_ENGINE_COPY};
  task.u.copy.to = to;
  task.u.copy.from = from;
  task.u.copy.size = size;
  return driver_push(on, &task);
}

static int copy(void *to, bool to_device, const void *from, bool from_device, size_t size, void *handle) {
  stream *on;
  int error = driver_check_stream(handle, &on);
  if (error) return error;
  if (to_device && !driver_owns(on->home, to, size, KW_ENGINE_MEMORY_DEVICE)) return INVALID_VALUE;
  if (from_device && !driver_owns(on->home, from, size, KW_ENGINE_MEMORY_DEVICE)) return INVALID_VALUE;
  return push_copy(on, to, from, size);
}

API(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(void *to, const void *from, size_t size, void *on) {
  return copy(to, true, from, false, size, on);
}

API(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void *to, const void *from, size_t size, void *on) {
  return copy(to, false, from, true, size, on);
}

API(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(void *to, const void *from, size_t size, void *on) {
  return copy(to, true, from, true, size, on);
}

/* Neither runtime wants peer access switched on for it. */
static int copy_peer(void *to, const context *to_home, const void *from, const context *from_home, size_t size,
                     void *handle) {
  stream *on;
  int error = driver_check_stream(handle, &on);
  if (error) return error;
  if (on->home != to_home || !driver_owns(to_home, to, size, KW_ENGINE_MEMORY_DEVICE) ||
      !driver_owns(from_home, from, size, KW_ENGINE_MEMORY_DEVICE))
    return INVALID_VALUE;
  return push_copy(on, to, from, size);
}

#ifdef KW_TEST_HIP
API(, hipMemcpyPeerAsync)(void *to, int to_device, const void *from, int from_device, size_t size, void *on) {
  const context *to_home = driver_context_of(to_device), *from_home = driver_context_of(from_device);
  return to_home && from_home ? copy_peer(to, to_home, from, from_home, size, on) : INVALID_DEVICE;
}
#else
API(cuMemcpyPeerAsync, )(void *to, void *to_home, const void *from, void *from_home, size_t size, void *on) {
  return to_home && from_home ? copy_peer(to, to_home, from, from_home, size, on) : INVALID_CONTEXT;
}
#endif

static int fill(void *to, const void *value, size_t value_size, size_t count, void *handle) {
  stream *on;
  int error = driver_check_stream(handle, &on);
  if (error) return error;
  if ((uintptr_t)to % value_size != 0 || !driver_owns(on->home, to, count * value_size, KW_ENGINE_MEMORY_DEVICE))
    return INVALID_VALUE;
  kw_engine_task task = {.kind = KW_ENGINE_FILL};
  task.u.fill.to = to;
  task.u.fill.size = count * value_size;
  task.u.fill.pattern_size = value_size;
  memcpy(task.u.fill.pattern, value, value_size);
  return driver_push(on, &task);
}

API(cuMemsetD8Async, hipMemsetD8Async)(void *to, uint8_t value, size_t count, void *on) {
  return fill(to, &value, sizeof value, count, on);
}

API(cuMemsetD16Async, hipMemsetD16Async)(void *to, uint16_t value, size_t count, void *on) {
  return fill(to, &value, sizeof value, count, on);
}

API(cuMemsetD32Async, hipMemsetD32Async)(void *to, uint32_t value, size_t count, void *on) {
  return fill(to, &value, sizeof value, count, on);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory: the application's (kw_host_alloc), and what the library itself copies through.
 */
#include "device/host_memory.h"

#include "base/error.h"
#include "base/fork.h"
#include "device/abandon.h"

#include <inttypes.h>
#include <stdlib.h>

#define ALIGNMENT UINT64_C(64) /* bytes */

static bool is_native(const kw_device *device) {
  return (device->plugin->native & KW_NATIVE_HOST_MEMORY) != 0;
}

static kw_status allocate(kw_device *device, uint64_t size, void **out_memory) {
  void *memory = NULL;
  if (!is_native(device)) {
    if (size <= UINT64_MAX - ALIGNMENT) memory = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1));
    if (memory == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "the host has no %" PRIu64 " bytes of memory", size);
  } else {
    kw_status status = KW_ASK(device->slots, memory.alloc_host, device->handle, size, &memory);
    if (status != KW_OK) {
      return kw_device_mark_if_lost(
          device, kw_from_plugin(status, "allocating %" PRIu64 " bytes of host memory for %s", size, device->name));
    }
    if (memory == NULL)
      return kw_fail(KW_ERR_INTERNAL, "%s: memory.alloc_host says KW_OK and gives none", device->name);
  }
  *out_memory = memory;
  return KW_OK;
}

static kw_status release(kw_device *device, void *memory) {
  if (kw_device_is_abandoned(device)) { /* a copy that hangs may still come */
    kw_abandon_keep(memory);
    return KW_OK;
  }
  if (!is_native(device)) {
    free(memory);
    return KW_OK;
  }
  kw_status status = KW_ASK(device->slots, memory.free_host, device->handle, memory);
  if (status == KW_OK) return KW_OK;
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "freeing host memory of %s", device->name));
}

/* ---- The application's ------------------------------------------------------------------------------------------- */

kw_status kw_host_alloc(kw_device *device, uint64_t size, void **out_memory) {
  if (device == NULL || out_memory == NULL || size == 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_host_alloc: %s",
                   device == NULL       ? "argument device is NULL"
                   : out_memory == NULL ? "argument out_memory is NULL"
                                        : "size is 0; ask for 1 byte at least");
  }
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status == KW_OK) status = allocate(device, size, out_memory);
  if (status == KW_OK) kw_device_retain(device);
  return status;
}

kw_status kw_host_free(kw_device *device, void *memory) {
  if (memory == NULL) return KW_OK;
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_host_free: argument device is NULL");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  status = release(device, memory);
  kw_device_release(device);
  return status;
}

/* ---- The library's own ------------------------------------------------------------------------------------------- */

kw_host_memory *kw_host_memory_take(uint64_t size) {
  const uint64_t head = (sizeof(kw_host_memory) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  const uint64_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  kw_host_memory *memory = size <= SIZE_MAX - head - ALIGNMENT ? aligned_alloc(ALIGNMENT, head + rounded) : NULL;
  if (memory != NULL) *memory = (kw_host_memory){.bytes = (char *)memory + head};
  return memory;
}

kw_host_memory *kw_staging_take(kw_device *device) {
  kw_host_memory *memory = atomic_exchange(&device->staging, NULL);
  if (memory != NULL || (memory = malloc(sizeof *memory)) == NULL) return memory;
  *memory = (kw_host_memory){.device = device};
  if (allocate(device, KW_STAGING_SIZE, &memory->bytes) == KW_OK) return memory;
  free(memory);
  return NULL;
}

/* No stream touches the memory any more. */
static void give_back(kw_host_memory *memory) {
  kw_device *device = memory->device;
  kw_host_memory *none = NULL;
  if (device != NULL && atomic_compare_exchange_strong(&device->staging, &none, memory)) return;
  if (device != NULL) release(device, memory->bytes);
  free(memory);
}

void kw_host_memory_give(kw_stream *stream, kw_host_memory *memory, bool passed) {
  if (memory == NULL) return;
  if (passed) {
    give_back(memory);
    return;
  }
  /* The stream's own device waits for it before it closes; another one does not. */
  if (memory->device != NULL && memory->device != stream->device) kw_device_retain(memory->device);
  pthread_mutex_lock(&stream->mutex);
  memory->since = stream->waits;
  memory->next = stream->held;
  stream->held = memory;
  pthread_mutex_unlock(&stream->mutex);
}

uint64_t kw_host_memory_begin_wait(kw_stream *stream) {
  pthread_mutex_lock(&stream->mutex);
  uint64_t wait = ++stream->waits;
  pthread_mutex_unlock(&stream->mutex);
  return wait;
}

void kw_host_memory_settle(kw_stream *stream, uint64_t wait) {
  kw_host_memory *settled = NULL;
  pthread_mutex_lock(&stream->mutex);
  for (kw_host_memory **link = &stream->held; *link != NULL;) {
    kw_host_memory *memory = *link;
    if (memory->since >= wait) { /* held after the wait began: it says nothing about this */
      link = &memory->next;
      continue;
    }
    *link = memory->next;
    memory->next = settled;
    settled = memory;
  }
  pthread_mutex_unlock(&stream->mutex);
  while (settled != NULL) {
    kw_host_memory *next = settled->next;
    kw_device *device = settled->device;
    give_back(settled);
    if (device != NULL && device != stream->device) kw_device_release(device);
    settled = next;
  }
}

void kw_host_memory_free_held(kw_stream *stream) {
  kw_host_memory_settle(stream, UINT64_MAX);
}

void kw_staging_free(kw_device *device) {
  kw_host_memory *memory = atomic_exchange(&device->staging, NULL);
  if (memory == NULL) return;
  release(device, memory->bytes);
  free(memory);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of memory about which there is something to know; of a driver that imports by itself, the driver knows.
 */
#include "lower/place.h"

void kw_gpu_memory_note(kw_gpu_device *device, kw_gpu_memory *memory) {
  pthread_mutex_lock(&device->memories_lock);
  memory->next = device->memories;
  device->memories = memory;
  pthread_mutex_unlock(&device->memories_lock);
}

/* The link to what is known of allocated or of imported memory; to NULL where there is nothing. Under memories_lock. */
static kw_gpu_memory **find(kw_gpu_device *device, kw_mem mem, bool imported) {
  kw_gpu_memory **link = &device->memories;
  while (*link && ((*link)->mem != mem || (*link)->imported != imported)) link = &(*link)->next;
  return link;
}

kw_gpu_memory *kw_gpu_memory_forget(kw_gpu_device *device, kw_mem mem, bool imported) {
  pthread_mutex_lock(&device->memories_lock);
  kw_gpu_memory **link = find(device, mem, imported), *memory = *link;
  if (memory) *link = memory->next;
  pthread_mutex_unlock(&device->memories_lock);
  return memory;
}

kw_mem_kind kw_gpu_mem_kind(kw_gpu_device *device, kw_mem mem) {
  pthread_mutex_lock(&device->memories_lock);
  const kw_gpu_memory *memory = *find(device, mem, false);
  const kw_mem_kind kind = memory ? memory->kind : KW_MEM_DEVICE;
  pthread_mutex_unlock(&device->memories_lock);
  return kind;
}

kw_gpu_place kw_gpu_memory_place(kw_gpu_device *device, kw_mem mem) {
  const void *host = NULL;
  pthread_mutex_lock(&device->memories_lock);
  const kw_gpu_memory *memory = device->memories;
  while (memory && memory->mem != mem) memory = memory->next;
  const kw_gpu_place place = memory ? memory->place : (kw_gpu_place){.kind = KW_GPU_PLACE_OWN};
  pthread_mutex_unlock(&device->memories_lock);
  if (memory || !device->driver->import_place || !device->driver->import_place(device, mem, &host)) return place;
  return (kw_gpu_place){.kind = host ? KW_GPU_PLACE_HOST : KW_GPU_PLACE_SHARED, .host = (uintptr_t)host};
}

bool kw_gpu_ranges_meet(const kw_gpu_range *a, const kw_gpu_range *b) {
  if (a->mem == b->mem) return a->begin < b->end && b->begin < a->end;
  if (a->place.kind == KW_GPU_PLACE_OWN || b->place.kind == KW_GPU_PLACE_OWN) return false;
  if (a->place.kind == KW_GPU_PLACE_SHARED || b->place.kind == KW_GPU_PLACE_SHARED) return true;
  return a->place.host + (uintptr_t)a->begin < b->place.host + (uintptr_t)b->end &&
         b->place.host + (uintptr_t)b->begin < a->place.host + (uintptr_t)a->end;
}

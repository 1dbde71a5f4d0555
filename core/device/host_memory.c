/* SPDX-License-Identifier: Apache-2.0 */
#include "device/host_memory.h"

#include "base/error.h"
#include "base/fork.h"

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
    kw_status status = device->plugin->memory.alloc_host(device->handle, size, &memory);
    if (status != KW_OK) {
      return kw_device_note(
          device, kw_from_plugin(status, "allocating %" PRIu64 " bytes of host memory for %s", size, device->name));
    }
    if (memory == NULL)
      return kw_fail(KW_ERR_INTERNAL, "%s: memory.alloc_host says KW_OK and gives none", device->name);
  }
  *out_memory = memory;
  return KW_OK;
}

static kw_status release(kw_device *device, void *memory) {
  if (!is_native(device)) {
    free(memory);
    return KW_OK;
  }
  kw_status status = device->plugin->memory.free_host(device->handle, memory);
  if (status == KW_OK) return KW_OK;
  return kw_device_note(device, kw_from_plugin(status, "freeing host memory of %s", device->name));
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

/* ---- Staging ----------------------------------------------------------------------------------------------------- */

void *kw_staging_take(kw_device *device) {
  void *memory = atomic_exchange(&device->staging, NULL);
  return memory != NULL || allocate(device, KW_STAGING_SIZE, &memory) == KW_OK ? memory : NULL;
}

void kw_staging_give(kw_device *device, void *memory) {
  void *none = NULL;
  if (!atomic_compare_exchange_strong(&device->staging, &none, memory)) release(device, memory);
}

void kw_staging_free(kw_device *device) {
  void *memory = atomic_exchange(&device->staging, NULL);
  if (memory != NULL) release(device, memory);
}

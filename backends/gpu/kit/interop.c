/* SPDX-License-Identifier: Apache-2.0
 *
 * The interop group over a driver's functions. A runtime is told of whole pages of the host, once each however many
 * imports lie there: it would refuse a second time.
 */
#include "kit/interop.h"

#include "lower/place.h"

#include <stdlib.h>
#include <unistd.h>

/* Pages that the runtime knows, in this process. */
typedef struct pages {
  uintptr_t begin, end;
  bool read_only;
  uint32_t imports;
  struct pages *next;
} pages;

typedef struct import {
  const kw_gpu_device *device;
  kw_mem mem;
  pages *in;
  struct import *next;
} import;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pages *known;    /* under the lock, as what follows */
static import *imports; /* of all devices */

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

static kw_status add_pages(kw_gpu_device *device, pages wanted, pages **out) {
  pages *added = malloc(sizeof *added);
  if (!added) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an import");
  kw_status status =
      device->driver->host_register(device, (void *)wanted.begin, wanted.end - wanted.begin, wanted.read_only);
  if (status != KW_OK) {
    free(added);
    return status;
  }
  *added = wanted;
  added->next = known;
  *out = known = added;
  return KW_OK;
}

/* Pages that the range lies in, one import more. */
static kw_status take_pages(kw_gpu_device *device, const kw_external_memory *info, pages **out) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)info->host;
  const pages wanted = {.begin = at / page * page,
                        .end = (at + info->size + page - 1) / page * page,
                        .read_only = (info->flags & KW_EXTERNAL_READ_ONLY) != 0};
  pages *found = known;
  while (found && (found->end <= wanted.begin || wanted.end <= found->begin)) found = found->next;
  kw_status status = KW_OK;
  if (!found) {
    status = add_pages(device, wanted, &found);
  } else if (wanted.begin < found->begin || found->end < wanted.end || (found->read_only && !wanted.read_only)) {
    status = kw_gpu_error(device->host, KW_ERR_UNSUPPORTED,
                          "host memory at %p: some of its pages are imported already, others are not%s", info->host,
                          found->read_only ? ", or they are read-only" : "");
  }
  if (status != KW_OK) return status;
  ++found->imports;
  *out = found;
  return KW_OK;
}

static kw_status leave_pages(kw_gpu_device *device, pages *in) {
  if (--in->imports > 0) return KW_OK;
  pages **link = &known;
  while (*link != in) link = &(*link)->next;
  *link = in->next;
  kw_status status = device->driver->host_unregister(device, (void *)in->begin);
  free(in);
  return status;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status check(const kw_gpu_device *device, const kw_external_memory *info) {
  const bool known = info->kind == KW_HANDLE_HOST || device->driver->import_handle;
  if (known && (info->flags & KW_FLAGS_CRITICAL & ~KW_EXTERNAL_READ_ONLY) == 0) return KW_OK;
  return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED,
                      "memory of kind %u with flags 0x%llx: %s takes host memory, read-only or not",
                      (unsigned)info->kind, (unsigned long long)info->flags, device->driver->key);
}

/* Under the lock. */
static kw_status begin_import(kw_gpu_device *device, const kw_external_memory *info, import *added) {
  void *there = NULL;
  kw_status status = take_pages(device, info, &added->in);
  if (status != KW_OK) return status;
  there = (void *)added->in->begin;
  if (device->driver->host_address) status = device->driver->host_address(device, there, &there);
  if (status != KW_OK) {
    leave_pages(device, added->in);
    return status;
  }
  added->device = device;
  added->mem = (char *)there + ((uintptr_t)info->host - added->in->begin);
  added->next = imports;
  imports = added;
  return KW_OK;
}

static kw_status import_host(kw_gpu_device *device, const kw_external_memory *info, kw_mem *out_mem) {
  import *added = malloc(sizeof *added);
  if (!added) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an import");
  pthread_mutex_lock(&lock);
  kw_status status = begin_import(device, info, added);
  pthread_mutex_unlock(&lock);
  if (status == KW_OK) {
    *out_mem = added->mem;
  } else {
    free(added);
  }
  return status;
}

static kw_status import_noted(kw_gpu_device *device, const kw_external_memory *info, kw_mem *out_mem) {
  const bool is_host = info->kind == KW_HANDLE_HOST;
  kw_gpu_memory *memory = malloc(sizeof *memory);
  if (!memory) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an import");
  kw_status status =
      is_host ? import_host(device, info, out_mem) : device->driver->import_handle(device, info, out_mem);
  if (status != KW_OK) {
    free(memory);
    return status;
  }
  *memory = (kw_gpu_memory){.mem = *out_mem,
                            .imported = true,
                            .place = {.kind = is_host ? KW_GPU_PLACE_HOST : KW_GPU_PLACE_SHARED,
                                      .host = is_host ? (uintptr_t)info->host : 0}};
  kw_gpu_memory_note(device, memory);
  return KW_OK;
}

static kw_status import_memory(void *state, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_gpu_device *device = state;
  kw_status status = check(device, info);
  if (status == KW_OK) status = import_noted(device, info, out_mem);
  if (status != KW_OK) return status;
  const uintptr_t address = (uintptr_t)*out_mem, lowest_bit = address & (~address + 1);
  *out_alignment = (uint32_t)(lowest_bit < 4096 ? lowest_bit : 4096);
  return KW_OK;
}

/* The link to it, or to the end of the list. */
static import **find(const kw_gpu_device *device, kw_mem mem) {
  import **link = &imports;
  while (*link && ((*link)->device != device || (*link)->mem != mem)) link = &(*link)->next;
  return link;
}

static kw_status release(kw_gpu_device *device, kw_mem mem) {
  kw_status status = KW_ERR_INVALID_ARGUMENT;
  pthread_mutex_lock(&lock);
  import **link = find(device, mem), *gone = *link;
  if (gone) {
    *link = gone->next;
    status = leave_pages(device, gone->in);
  }
  pthread_mutex_unlock(&lock);
  if (!gone && device->driver->release_handle) return device->driver->release_handle(device, mem);
  if (!gone) kw_gpu_error(device->host, status, "release_memory: %p is no import of this device", mem);
  free(gone);
  return status;
}

/* What is known is forgotten first: another import may be given the address. */
static kw_status release_memory(void *state, kw_mem mem) {
  kw_gpu_memory *memory = kw_gpu_memory_forget(state, mem, true);
  const kw_status status = release(state, mem);
  free(memory);
  return status;
}

static kw_status export_memory(void *state, kw_mem mem, kw_external_memory *inout_info) {
  kw_gpu_device *device = state;
  if (device->driver->export_handle) return device->driver->export_handle(device, mem, inout_info);
  return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "%s has no memory for others", device->driver->key);
}

static kw_status native_handle(void *state, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  kw_gpu_device *device = state;
  pthread_mutex_lock(&lock);
  const bool imported = kind == KW_OBJECT_MEMORY && *find(device, object);
  pthread_mutex_unlock(&lock);
  if (kind > KW_OBJECT_MEMORY)
    return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "%s has no objects of kind %u", device->driver->key,
                        (unsigned)kind);
  return device->driver->native_handle(device, kind, object, imported, out_handle);
}

const kw_interop_api kw_gpu_interop_slots = {
    .struct_size = sizeof kw_gpu_interop_slots,
    .import_memory = import_memory,
    .release_memory = release_memory,
    .export_memory = export_memory,
    .native_handle = native_handle,
};

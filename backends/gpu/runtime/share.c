/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for others, and theirs, by descriptor: physical memory with a handle, which each side maps into addresses of
 * its own.
 */
#include "runtime.h"

#include <stdlib.h>

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

/* As both runtimes lay them out. */
typedef struct location {
  int type, id;
} location;

typedef struct properties {
  unsigned type, handle_types;
  location place;
  void *metadata;
  unsigned char flags[8];
} properties;

typedef struct access {
  location place;
  unsigned flags;
} access;

enum { PINNED = 1, DESCRIPTOR = 1, ON_DEVICE = 1, READ_WRITE = 3, INVALID_VALUE = 1 };

/* A mapping, with a reference to what it maps. */
typedef struct kw_rt_shared {
  char *begin;
  size_t size;
  kw_mem mem; /* the range that was asked for begins there */
  uint64_t handle;
  struct kw_rt_shared *next;
} kw_rt_shared;

static kw_status check_shares(const kw_rt_device *device) {
  if (kw_rt_shares()) return KW_OK;
  return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                      "memory by descriptor: the installed %s cannot map memory by handles", runtime->name);
}

static properties properties_of(const kw_rt_device *device) {
  return (properties){.type = PINNED, .handle_types = DESCRIPTOR, .place = {ON_DEVICE, device->id}};
}

/* Enough to hold `size` bytes, in the steps that memory comes in; 0: too many. */
static int round_up(const kw_rt_device *device, uint64_t size, size_t *out_size) {
  const properties wanted = properties_of(device);
  size_t step = 0;
  int error = kw_rt.share_granularity(&step, &wanted, 0);
  *out_size = error || step == 0 || size > device->total_memory ? 0 : (size + step - 1) / step * step;
  return error;
}

/* The handle's first bytes at addresses of their own, which the device may write to. */
static int map(const kw_rt_device *device, kw_rt_shared *shared, int *out_call) {
  const access both = {.place = {ON_DEVICE, device->id}, .flags = READ_WRITE};
  void *begin = NULL;
  *out_call = KW_RT_share_reserve;
  int error = kw_rt.share_reserve(&begin, shared->size, 0, NULL, 0);
  if (error) return error;
  shared->begin = begin;
  *out_call = KW_RT_share_map;
  error = kw_rt.share_map(begin, shared->size, 0, shared->handle, 0);
  if (!error) {
    *out_call = KW_RT_share_access;
    error = kw_rt.share_access(begin, shared->size, &both, 1);
    if (error) kw_rt.share_unmap(begin, shared->size);
  }
  if (error) kw_rt.share_unreserve(begin, shared->size);
  return error;
}

static int unmap(const kw_rt_shared *shared) {
  int error = kw_rt.share_unmap(shared->begin, shared->size);
  kw_rt.share_unreserve(shared->begin, shared->size);
  kw_rt.share_release(shared->handle);
  return error;
}

static void add(kw_rt_device *device, kw_rt_shared *shared) {
  pthread_mutex_lock(&device->base.lock);
  shared->next = device->shared;
  device->shared = shared;
  pthread_mutex_unlock(&device->base.lock);
}

/* ---- For others -------------------------------------------------------------------------------------------------- */

static int create(kw_rt_device *device, uint64_t size, kw_rt_shared *shared, int *out_call) {
  const properties wanted = properties_of(device);
  *out_call = KW_RT_share_granularity;
  int error = round_up(device, size, &shared->size);
  if (error) return error;
  *out_call = KW_RT_share_create;
  error = shared->size == 0 ? 2 /* out of memory */ : kw_rt.share_create(&shared->handle, shared->size, &wanted, 0);
  if (error) return error;
  error = map(device, shared, out_call);
  if (error) kw_rt.share_release(shared->handle);
  return error;
}

kw_status kw_rt_share_alloc(kw_rt_device *device, uint64_t size, kw_mem *out_mem) {
  int call = 0;
  kw_status status = check_shares(device);
  if (status != KW_OK) return status;
  kw_rt_shared *shared = calloc(1, sizeof *shared);
  if (!shared) return kw_rt_no_memory(device->base.host, "memory for others");
  void *before = runtime->enter(device);
  int error = create(device, size, shared, &call);
  runtime->leave(before);
  if (error) {
    free(shared);
    return kw_rt_check(device, call, error);
  }
  *out_mem = shared->mem = shared->begin;
  add(device, shared);
  return KW_OK;
}

bool kw_rt_share_end(kw_rt_device *device, kw_mem mem, kw_status *out_status) {
  pthread_mutex_lock(&device->base.lock);
  kw_rt_shared **link = &device->shared, *shared;
  while (*link && (*link)->mem != mem) link = &(*link)->next;
  shared = *link;
  if (shared) *link = shared->next;
  pthread_mutex_unlock(&device->base.lock);
  if (!shared) return false;
  void *before = runtime->enter(device);
  int error = unmap(shared);
  runtime->leave(before);
  free(shared);
  *out_status = kw_rt_check(device, KW_RT_share_unmap, error);
  return true;
}

kw_status kw_rt_export(kw_gpu_device *base, kw_mem mem, kw_external_memory *inout_info) {
  kw_rt_device *device = (kw_rt_device *)base;
  int descriptor = -1;
  if (inout_info->kind == KW_HANDLE_IPC) return kw_rt_ipc_export(device, mem, inout_info);
  if (inout_info->kind != KW_HANDLE_FD)
    return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED, "an export as kind %u: %s gives descriptors and bytes",
                        (unsigned)inout_info->kind, runtime->name);
  pthread_mutex_lock(&base->lock);
  const kw_rt_shared *shared = device->shared;
  while (shared && shared->mem != mem) shared = shared->next;
  pthread_mutex_unlock(&base->lock);
  if (!shared) return kw_gpu_error(base->host, KW_ERR_INVALID_ARGUMENT, "%p was not allocated for export", mem);
  void *before = runtime->enter(device);
  int error = kw_rt.share_export(&descriptor, shared->handle, DESCRIPTOR, 0);
  runtime->leave(before);
  if (error) return kw_rt_check(device, KW_RT_share_export, error);
  inout_info->handle = (uint64_t)descriptor;
  return KW_OK;
}

/* ---- Of others --------------------------------------------------------------------------------------------------- */

/* Its own descriptor is the driver's to keep; the caller's stays the caller's. */
static int take(kw_rt_device *device, const kw_external_memory *info, kw_rt_shared *shared, int *out_call) {
  int descriptor = (int)info->handle, version = 0;
  *out_call = KW_RT_share_granularity;
  int error = round_up(device, info->offset + info->size, &shared->size);
  if (error) return error;
  *out_call = KW_RT_share_map;
  if (shared->size == 0) return INVALID_VALUE;
  *out_call = KW_RT_share_import;
  kw_rt.driver_version(&version);
  void *const by_value = (void *)(intptr_t)descriptor; /* some versions want a pointer to it */
  error = kw_rt.share_import(&shared->handle, version < runtime->descriptor_since ? &descriptor : by_value, DESCRIPTOR);
  if (error) return error;
  error = map(device, shared, out_call);
  if (error) kw_rt.share_release(shared->handle);
  return error;
}

kw_status kw_rt_import(kw_gpu_device *base, const kw_external_memory *info, kw_mem *out_mem) {
  kw_rt_device *device = (kw_rt_device *)base;
  char text[300];
  int call = 0;
  if (info->kind == KW_HANDLE_IPC) return kw_rt_ipc_import(device, info, out_mem);
  if (info->kind != KW_HANDLE_FD)
    return kw_gpu_error(base->host, KW_ERR_UNSUPPORTED,
                        "memory of kind %u: %s takes host memory, descriptors and bytes that it exported",
                        (unsigned)info->kind, runtime->name);
  kw_status status = check_shares(device);
  if (status != KW_OK) return status;
  if (info->handle > INT32_MAX || info->offset > UINT64_MAX - info->size)
    return kw_gpu_error(base->host, KW_ERR_INVALID_ARGUMENT, "no descriptor, or a range past all memory");
  kw_rt_shared *shared = calloc(1, sizeof *shared);
  if (!shared) return kw_rt_no_memory(base->host, "an import");
  void *before = runtime->enter(device);
  int error = take(device, info, shared, &call);
  runtime->leave(before);
  if (error) {
    free(shared);
    status = kw_rt_status(error);
    if (status != KW_ERR_INTERNAL) return kw_rt_check(device, call, error);
    kw_rt_error_text(call, error, text, sizeof text);
    return kw_gpu_error(base->host, KW_ERR_INVALID_ARGUMENT, "%llu bytes at %llu of descriptor %d: %s",
                        (unsigned long long)info->size, (unsigned long long)info->offset, (int)info->handle, text);
  }
  *out_mem = shared->mem = shared->begin + info->offset;
  add(device, shared);
  return KW_OK;
}

kw_status kw_rt_import_end(kw_gpu_device *base, kw_mem mem) {
  kw_status status = KW_OK;
  kw_rt_device *device = (kw_rt_device *)base;
  if (kw_rt_share_end(device, mem, &status) || kw_rt_ipc_end(device, mem, &status)) return status;
  return kw_gpu_error(base->host, KW_ERR_INVALID_ARGUMENT, "release_memory: %p is no import of this device", mem);
}

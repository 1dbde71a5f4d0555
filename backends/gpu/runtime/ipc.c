/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for other processes, and theirs, by bytes: the runtime's own handles. Those are good in other processes only,
 * and nobody says how often one may be opened. So what this process has of such memory, of its own and of others,
 * stands in one list, by the bytes: an import of what is there already is one use more.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

/* The runtimes cut smaller memory from blocks of that size, and a handle opens the whole block: what else lies there,
 * too. */
#define BLOCK ((size_t)2 << 20)

enum { OUT_OF_MEMORY = 2, PEERS_WHEN_USED = 1 };

typedef struct ipc_bytes {
  kw_rt_ipc_handle handle;
  uint8_t token[24]; /* random, for each allocation: a handle may come again when its memory is gone */
  uint64_t sum;      /* of what stands before it: bytes that were changed on their way do not reach the runtime */
} ipc_bytes;

_Static_assert(sizeof(ipc_bytes) == KW_IPC_SIZE, "the plugin's bytes");

typedef struct memory {
  ipc_bytes bytes;
  int device; /* the runtime's number: a process may have it open more than once */
  char *begin;
  size_t size;
  bool own;      /* allocated here; otherwise opened */
  uint32_t uses; /* the allocation, and imports */
  struct memory *next;
} memory;

typedef struct use {
  memory *of;
  const kw_rt_device *device;
  kw_mem mem; /* the range that was asked for begins there */
  struct use *next;
} use;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory *memories; /* under the lock, as what follows */
static use *uses;

static kw_status check_calls(const kw_rt_device *device) {
  if (kw_rt_names_memory()) return KW_OK;
  return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                      "memory by bytes: the installed %s gives no memory to other processes", runtime->name);
}

/* FNV-1a, 64 bits. */
static uint64_t sum_of(const ipc_bytes *bytes) {
  const unsigned char *byte = (const unsigned char *)bytes;
  uint64_t sum = 14695981039346656037u;
  for (size_t i = 0; i < offsetof(ipc_bytes, sum); i++) sum = (sum ^ byte[i]) * 1099511628211u;
  return sum;
}

/* ---- The list: under the lock ------------------------------------------------------------------------------------ */

static memory *find_memory(const kw_rt_device *device, const ipc_bytes *bytes) {
  memory *found = memories;
  while (found && (found->device != device->id || memcmp(&found->bytes, bytes, sizeof *bytes) != 0))
    found = found->next;
  return found;
}

/* The link to it, or to the end of the list. */
static use **find_use(const kw_rt_device *device, kw_mem mem) {
  use **link = &uses;
  while (*link && ((*link)->device != device || (*link)->mem != mem)) link = &(*link)->next;
  return link;
}

static void add_memory(memory *added) {
  added->next = memories;
  memories = added;
}

static void add_use(use *added, memory *of, const kw_rt_device *device, uint64_t offset) {
  *added = (use){.of = of, .device = device, .mem = of->begin + offset, .next = uses};
  uses = added;
  ++of->uses;
}

/* One that nothing uses any more is no longer in the list: it is the caller's to give back. */
static bool remove_unused(memory *gone) {
  memory **link = &memories;
  if (gone->uses > 0) return false;
  while (*link != gone) link = &(*link)->next;
  *link = gone->next;
  return true;
}

/* ---- For others -------------------------------------------------------------------------------------------------- */

static int create(const kw_rt_device *device, uint64_t size, memory *made, int *out_call) {
  void *begin = NULL;
  *out_call = KW_RT_alloc;
  if (size > device->total_memory) return OUT_OF_MEMORY;
  made->size = (size + BLOCK - 1) / BLOCK * BLOCK;
  int error = kw_rt.alloc(&begin, made->size);
  if (error) return error;
  made->begin = begin;
  *out_call = KW_RT_ipc_name;
  error = kw_rt.ipc_name(&made->bytes.handle, begin);
  if (error) kw_rt.free(begin);
  return error;
}

/* A driver that has the calls may still name no memory of this device. */
static kw_status fail_create(kw_rt_device *device, int call, int error) {
  char text[300];
  if (call != KW_RT_ipc_name || kw_rt_status(error) != KW_ERR_INTERNAL) return kw_rt_check(device, call, error);
  kw_rt_error_text(call, error, text, sizeof text);
  return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED, "this device gives no memory to other processes: %s",
                      text);
}

kw_status kw_rt_ipc_alloc(kw_rt_device *device, const kw_alloc_info *info, kw_mem *out_mem) {
  int call = 0;
  kw_status status = check_calls(device);
  if (status != KW_OK) return status;
  if (info->flags & KW_MEM_EXPORTABLE)
    return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED,
                        "%s gives memory by descriptor (KW_MEM_EXPORTABLE) or by bytes (KW_MEM_IPC), not the same by "
                        "both: ask for one",
                        runtime->name);
  memory *made = calloc(1, sizeof *made);
  use *first = calloc(1, sizeof *first);
  if (!made || !first || getrandom(made->bytes.token, sizeof made->bytes.token, 0) != sizeof made->bytes.token) {
    free(first);
    free(made);
    return kw_rt_no_memory(device->base.host, "memory for other processes");
  }
  void *before = runtime->enter(device);
  int error = create(device, info->size, made, &call);
  runtime->leave(before);
  if (error) {
    free(first);
    free(made);
    return fail_create(device, call, error);
  }
  made->own = true;
  made->device = device->id;
  made->bytes.sum = sum_of(&made->bytes);
  *out_mem = made->begin;
  pthread_mutex_lock(&lock);
  add_memory(made);
  add_use(first, made, device, 0);
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

kw_status kw_rt_ipc_export(kw_rt_device *device, kw_mem mem, kw_external_memory *inout_info) {
  pthread_mutex_lock(&lock);
  const use *found = *find_use(device, mem);
  if (found) memcpy(inout_info->ipc, &found->of->bytes, sizeof found->of->bytes);
  pthread_mutex_unlock(&lock);
  if (found) return KW_OK;
  return kw_gpu_error(device->base.host, KW_ERR_INVALID_ARGUMENT, "%p was not allocated for other processes", mem);
}

/* ---- Of others --------------------------------------------------------------------------------------------------- */

/* How much there is the runtime says, not the bytes. */
static int open_handle(memory *opened, int *out_call) {
  void *begin = NULL, *whole = NULL;
  size_t size = 0;
  *out_call = KW_RT_ipc_open;
  int error = kw_rt.ipc_open(&begin, opened->bytes.handle, PEERS_WHEN_USED);
  if (error) return error;
  *out_call = KW_RT_address_range;
  error = kw_rt.address_range(&whole, &size, begin);
  if (error) {
    kw_rt.ipc_close(begin);
    return error;
  }
  opened->begin = begin;
  opened->size = size - (size_t)((char *)begin - (char *)whole);
  return 0;
}

static kw_status open_memory(kw_rt_device *device, const ipc_bytes *bytes, memory **out_memory) {
  char text[300];
  int call = 0;
  memory *opened = calloc(1, sizeof *opened);
  if (!opened) return kw_rt_no_memory(device->base.host, "an import");
  opened->bytes = *bytes;
  opened->device = device->id;
  void *before = runtime->enter(device);
  int error = open_handle(opened, &call);
  runtime->leave(before);
  if (!error) {
    *out_memory = opened;
    return KW_OK;
  }
  free(opened);
  const kw_status status = kw_rt_status(error);
  if (status == KW_ERR_OUT_OF_MEMORY || status == KW_ERR_UNSUPPORTED || status == KW_ERR_DEVICE_LOST)
    return kw_rt_check(device, call, error);
  kw_rt_error_text(call, error, text, sizeof text);
  return kw_gpu_error(device->base.host, KW_ERR_INVALID_ARGUMENT,
                      "bytes of another process: they name no memory that is there, or none that this process may "
                      "open: %s",
                      text);
}

static kw_status give_back(kw_rt_device *device, memory *gone) {
  const int call = gone->own ? KW_RT_free : KW_RT_ipc_close;
  void *before = runtime->enter(device);
  int error = gone->own ? kw_rt.free(gone->begin) : kw_rt.ipc_close(gone->begin);
  runtime->leave(before);
  free(gone);
  return kw_rt_check(device, call, error);
}

static kw_status check_range(const kw_rt_device *device, const kw_external_memory *info, const memory *of) {
  if (info->offset <= of->size && info->size <= of->size - info->offset) return KW_OK;
  return kw_gpu_error(device->base.host, KW_ERR_INVALID_ARGUMENT,
                      "bytes of another process: %llu bytes at %llu reach past the %zu that are there",
                      (unsigned long long)info->size, (unsigned long long)info->offset, of->size);
}

kw_status kw_rt_ipc_import(kw_rt_device *device, const kw_external_memory *info, kw_mem *out_mem) {
  ipc_bytes bytes;
  kw_status status = check_calls(device);
  if (status != KW_OK) return status;
  memcpy(&bytes, info->ipc, sizeof bytes);
  if (bytes.sum != sum_of(&bytes))
    return kw_gpu_error(device->base.host, KW_ERR_INVALID_ARGUMENT,
                        "bytes of another process: no export of %s gave them, or they were changed on their way",
                        runtime->name);
  use *added = calloc(1, sizeof *added);
  if (!added) return kw_rt_no_memory(device->base.host, "an import");
  pthread_mutex_lock(&lock);
  memory *of = find_memory(device, &bytes);
  if (!of) {
    status = open_memory(device, &bytes, &of);
    if (status == KW_OK) add_memory(of);
  }
  if (status == KW_OK) status = check_range(device, info, of);
  if (status == KW_OK) {
    add_use(added, of, device, info->offset);
    *out_mem = added->mem;
  }
  const bool unused = of && remove_unused(of);
  pthread_mutex_unlock(&lock);
  if (status != KW_OK) free(added);
  if (unused) give_back(device, of);
  return status;
}

bool kw_rt_ipc_end(kw_rt_device *device, kw_mem mem, kw_status *out_status) {
  memory *of = NULL;
  pthread_mutex_lock(&lock);
  use **link = find_use(device, mem), *gone = *link;
  if (gone) {
    *link = gone->next;
    of = gone->of;
    --of->uses;
  }
  const bool unused = of && remove_unused(of);
  pthread_mutex_unlock(&lock);
  if (!gone) return false;
  free(gone);
  *out_status = unused ? give_back(device, of) : KW_OK;
  return true;
}

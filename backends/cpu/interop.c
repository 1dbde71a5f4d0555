/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others and for others. The process's own memory is the device's, so an import of it is a pointer; what
 * other processes share is mapped.
 */
#include "cpu.h"
#include "shared.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define DL_CPU 1 /* kDLCPU */

/* ---- Imports ----------------------------------------------------------------------------------------------------- */

/* One that is mapped. */
typedef struct kw_cpu_import {
  void *memory;
  uint64_t size;
  unsigned count; /* of imports of this address: the process may import what it has mapped here once more as its own */
  struct kw_cpu_import *next;
} kw_cpu_import;

/* The link to the mapped import of this address, or to the end of the list. Under the lock. */
static kw_cpu_import **find(kw_cpu_device *cpu, const void *memory) {
  kw_cpu_import **link = &cpu->imports;
  while (*link && (*link)->memory != memory) link = &(*link)->next;
  return link;
}

static void *use_host(kw_cpu_device *cpu, const kw_external_memory *info) {
  pthread_mutex_lock(&cpu->imports_lock);
  kw_cpu_import *mapped = *find(cpu, info->host);
  if (mapped) mapped->count++;
  pthread_mutex_unlock(&cpu->imports_lock);
  return info->host;
}

static kw_status map_file(kw_cpu_device *cpu, const kw_external_memory *info, int file, kw_mem *out_mem) {
  const char *reason;
  kw_cpu_import *import = malloc(sizeof *import);
  if (!import) return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY, "no host memory for an import");
  void *memory = kw_cpu_shared_map(file, info->offset, info->size, (info->flags & KW_EXTERNAL_READ_ONLY) != 0, &reason);
  if (!memory) {
    free(import);
    return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT, "descriptor %d, %llu bytes at %llu: %s", file,
                        (unsigned long long)info->size, (unsigned long long)info->offset, reason);
  }
  pthread_mutex_lock(&cpu->imports_lock);
  *import = (kw_cpu_import){.memory = memory, .size = info->size, .count = 1, .next = cpu->imports};
  cpu->imports = import;
  pthread_mutex_unlock(&cpu->imports_lock);
  *out_mem = memory;
  return KW_OK;
}

static kw_status map_named(kw_cpu_device *cpu, const kw_external_memory *info, kw_mem *out_mem) {
  const char *reason;
  const int file = kw_cpu_shared_find(info->ipc, &reason);
  if (file < 0) return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT, "bytes of another process: %s", reason);
  kw_status status = map_file(cpu, info, file, out_mem);
  close(file);
  return status;
}

static kw_status import_memory(void *device, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  kw_cpu_device *cpu = device;
  const bool known = info->kind == KW_HANDLE_HOST || info->kind == KW_HANDLE_FD || info->kind == KW_HANDLE_IPC;
  if (!known || (info->flags & KW_FLAGS_CRITICAL & ~KW_EXTERNAL_READ_ONLY) != 0) {
    return kw_cpu_error(
        cpu->host, KW_ERR_UNSUPPORTED,
        "memory of kind %u with flags 0x%llx: the cpu takes host memory, descriptors of memfds and bytes "
        "that it exported, read-only or not",
        info->kind, (unsigned long long)info->flags);
  }
  kw_status status = KW_OK;
  if (info->kind == KW_HANDLE_HOST) *out_mem = use_host(cpu, info);
  if (info->kind == KW_HANDLE_FD) {
    status = map_file(cpu, info, info->handle <= INT_MAX ? (int)info->handle : -1, out_mem);
  }
  if (info->kind == KW_HANDLE_IPC) status = map_named(cpu, info, out_mem);
  if (status != KW_OK) return status;
  const uintptr_t lowest_bit = (uintptr_t)*out_mem & (~(uintptr_t)*out_mem + 1);
  *out_alignment = (uint32_t)(lowest_bit < 4096 ? lowest_bit : 4096);
  return KW_OK;
}

static kw_status release_memory(void *device, kw_mem mem) {
  kw_cpu_device *cpu = device;
  pthread_mutex_lock(&cpu->imports_lock);
  kw_cpu_import **link = find(cpu, mem), *import = *link;
  const bool last = import && --import->count == 0;
  if (last) *link = import->next;
  pthread_mutex_unlock(&cpu->imports_lock);
  if (!last) return KW_OK;
  kw_cpu_shared_unmap(import->memory, import->size);
  free(import);
  return KW_OK;
}

/* ---- Exports ----------------------------------------------------------------------------------------------------- */

static kw_status export_memory(void *device, kw_mem mem, kw_external_memory *inout_info) {
  kw_cpu_device *cpu = device;
  const kw_cpu_block *block = kw_cpu_block_of(mem);
  if (inout_info->kind != KW_HANDLE_FD && inout_info->kind != KW_HANDLE_IPC) {
    return kw_cpu_error(cpu->host, KW_ERR_UNSUPPORTED, "an export as kind %u: the cpu gives descriptors and bytes",
                        inout_info->kind);
  }
  if (block->file < 0 || (inout_info->kind == KW_HANDLE_IPC && !block->ipc)) {
    return kw_cpu_error(cpu->host, KW_ERR_INVALID_ARGUMENT, "the memory was not allocated for export as kind %u",
                        inout_info->kind);
  }
  if (inout_info->kind == KW_HANDLE_IPC) {
    kw_cpu_shared_name(block, inout_info->ipc);
    return KW_OK;
  }
  const int copy = fcntl(block->file, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return kw_cpu_error(cpu->host, KW_ERR_OUT_OF_MEMORY, "no descriptor left for an export");
  inout_info->handle = (uint64_t)copy;
  return KW_OK;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static kw_status native_handle(void *device, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  kw_cpu_device *cpu = device;
  if (kind != KW_OBJECT_MEMORY) {
    return kw_cpu_error(cpu->host, KW_ERR_UNSUPPORTED, "object of kind %u: the cpu has no runtime that names it", kind);
  }
  out_handle->dl_device_type = DL_CPU;
  out_handle->dl_device_id = 0;
  out_handle->handle = object;
  return KW_OK;
}

const kw_interop_api kw_cpu_interop_api = {
    .struct_size = sizeof(kw_interop_api),
    .import_memory = import_memory,
    .release_memory = release_memory,
    .export_memory = export_memory,
    .native_handle = native_handle,
};

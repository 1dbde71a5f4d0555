/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is shared by descriptor: files in memory. */
#include "emulated.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct shared {
  void *base;
  size_t size;
  int file;
  struct shared *next;
} shared;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static shared *all; /* under the lock */

/* The link to the one that begins there, or to the end of the list. Under the lock. */
static shared **find(const void *base) {
  shared **link = &all;
  while (*link && (*link)->base != base) link = &(*link)->next;
  return link;
}

/* The file is this driver's to close. */
static ze_result_t map(int file, size_t size, void **out) {
  struct stat facts;
  shared *added = malloc(sizeof *added);
  if (!added || fstat(file, &facts) != 0 || (size_t)facts.st_size < size) {
    free(added);
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: no descriptor of %zu bytes", size);
  }
  *added = (shared){.base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), .size = size, .file = file};
  if (added->base == MAP_FAILED || kw_engine_adopt(added->base, size) != KW_ENGINE_OK) {
    free(added);
    return emu_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "emulated: %zu bytes cannot be mapped", size);
  }
  pthread_mutex_lock(&lock);
  added->next = all;
  all = added;
  pthread_mutex_unlock(&lock);
  *out = added->base;
  return ZE_RESULT_SUCCESS;
}

ze_result_t emu_share_alloc(const void *next, size_t size, void **out) {
  const ze_external_memory_import_fd_t *import = next;
  const ze_external_memory_export_desc_t *export = next;
  int file = -1;
  if (import->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD) {
    if (import->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD &&
        import->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF)
      return emu_fail(ZE_RESULT_ERROR_INVALID_ENUMERATION, "emulated: an import is of one type");
    file = fcntl(import->fd, F_DUPFD_CLOEXEC, 0);
  } else if (export->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC &&
             (export->flags & ~EMU_SHARE_TYPES) == 0) {
    file = memfd_create("emulated device memory", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)size) != 0) {
      close(file);
      return emu_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "emulated: no file of %zu bytes", size);
    }
  } else {
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: an allocation with an unknown struct in pNext");
  }
  ze_result_t result = map(file, size, out);
  if (result != ZE_RESULT_SUCCESS && file >= 0) close(file);
  return result;
}

bool emu_share_free(const void *base) {
  pthread_mutex_lock(&lock);
  shared **link = find(base), *gone = *link;
  if (gone) *link = gone->next;
  pthread_mutex_unlock(&lock);
  if (!gone) return false;
  kw_engine_disown(gone->base);
  munmap(gone->base, gone->size);
  close(gone->file);
  free(gone);
  return true;
}

ze_result_t emu_share_export(const void *base, ze_external_memory_export_fd_t *out) {
  if (out->stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: an unknown struct in pNext");
  pthread_mutex_lock(&lock);
  const shared *found = *find(base);
  out->fd = found ? fcntl(found->file, F_DUPFD_CLOEXEC, 0) : -1;
  pthread_mutex_unlock(&lock);
  return out->fd >= 0 ? ZE_RESULT_SUCCESS
                      : emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: memory that was not made for export");
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the test driver that is mapped by handles and shared by descriptor: files in memory.
 */
#include "driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP 4096

/* What a handle is. */
typedef struct physical {
  uint32_t what;
  int file;
  size_t size;
  kw_engine_device *device; /* whose memory it is; NULL: made elsewhere, and counted there */
} physical;

static int entered(void) {
  context *home;
  return driver_enter(&home);
}

API(cuMemGetAllocationGranularity, hipMemGetAllocationGranularity)(size_t *out, const void *wanted, unsigned option) {
  int error = entered();
  if (error) return error;
  if (!wanted || option > 1) return INVALID_VALUE;
  *out = STEP;
  return OK;
}

static int make(int file, size_t size, kw_engine_device *device, uint64_t *out) {
  physical *made = malloc(sizeof *made);
  if (!made) {
    close(file);
    return OUT_OF_MEMORY;
  }
  *made = (physical){.what = PHYSICAL, .file = file, .size = size, .device = device};
  *out = (uintptr_t)made;
  return OK;
}

API(cuMemCreate, hipMemCreate)(uint64_t *out, size_t size, const void *wanted, unsigned long long flags) {
  context *home;
  int error = driver_enter(&home);
  if (error) return error;
  if (!wanted || size == 0 || size % STEP != 0 || flags != 0) return INVALID_VALUE;
  if (!kw_engine_device_take(home->device, size)) return OUT_OF_MEMORY;
  int file = memfd_create("emulated device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)size) != 0) {
    if (file >= 0) close(file);
    error = OUT_OF_MEMORY;
  } else {
    error = make(file, size, home->device, out); /* closes the file when it fails */
  }
  if (error) kw_engine_device_give(home->device, size);
  return error;
}

API(cuMemRelease, hipMemRelease)(uint64_t handle) {
  physical *gone = (physical *)(uintptr_t)handle;
  if (driver_check(gone, PHYSICAL) != OK) return INVALID_VALUE;
  gone->what = 0;
  close(gone->file);
  if (gone->device) kw_engine_device_give(gone->device, gone->size);
  free(gone);
  return entered();
}

API(cuMemAddressReserve, hipMemAddressReserve)
(void **out, size_t size, size_t alignment, void *at, unsigned long long flags) {
  int error = entered();
  if (error) return error;
  if (size == 0 || size % STEP != 0 || alignment != 0 || at || flags != 0) return INVALID_VALUE;
  void *begin = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return OUT_OF_MEMORY;
  *out = begin;
  return OK;
}

API(cuMemAddressFree, hipMemAddressFree)(void *begin, size_t size) {
  return munmap(begin, size) == 0 ? entered() : INVALID_VALUE;
}

/* Nobody has access yet. */
API(cuMemMap, hipMemMap)(void *begin, size_t size, size_t offset, uint64_t handle, unsigned long long flags) {
  const physical *from = (const physical *)(uintptr_t)handle;
  int error = entered();
  if (error) return error;
  if (driver_check(from, PHYSICAL) != OK || size % STEP != 0 || offset != 0 || flags != 0 || size > from->size)
    return INVALID_VALUE;
  return mmap(begin, size, PROT_NONE, MAP_SHARED | MAP_FIXED, from->file, 0) == begin ? OK : OUT_OF_MEMORY;
}

API(cuMemSetAccess, hipMemSetAccess)(void *begin, size_t size, const void *wanted, size_t count) {
  int error = entered();
  if (error) return error;
  if (!wanted || count != 1 || mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) return INVALID_VALUE;
  return kw_engine_adopt(begin, size) == KW_ENGINE_OK ? OK : INVALID_VALUE;
}

API(cuMemUnmap, hipMemUnmap)(void *begin, size_t size) {
  if (kw_engine_disown(begin) != KW_ENGINE_OK) return INVALID_VALUE;
  mmap(begin, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return entered();
}

API(cuMemExportToShareableHandle, hipMemExportToShareableHandle)
(void *out, uint64_t handle, unsigned type, unsigned long long flags) {
  const physical *from = (const physical *)(uintptr_t)handle;
  int error = entered();
  if (error) return error;
  if (driver_check(from, PHYSICAL) != OK || type != 1 || flags != 0) return INVALID_VALUE;
  *(int *)out = fcntl(from->file, F_DUPFD_CLOEXEC, 0);
  return *(int *)out >= 0 ? OK : OUT_OF_MEMORY;
}

/* This version of HIP's wants a pointer to the descriptor, CUDA the descriptor in a pointer's place. */
API(cuMemImportFromShareableHandle, hipMemImportFromShareableHandle)(uint64_t *out, void *shared, unsigned type) {
  struct stat facts;
  int error = entered();
  if (error) return error;
  const int given = NAME((int)(intptr_t)shared, *(int *)shared), file = fcntl(given, F_DUPFD_CLOEXEC, 0);
  if (type != 1 || file < 0) return INVALID_VALUE;
  if (fstat(file, &facts) == 0 && facts.st_size > 0) return make(file, (size_t)facts.st_size, NULL, out);
  close(file);
  return INVALID_VALUE;
}

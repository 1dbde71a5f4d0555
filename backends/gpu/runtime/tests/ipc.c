/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the test driver that other processes open by handles. Memory that is asked for its handle becomes a file in
 * memory where it lies; the handle says which of the process's descriptors that is, and by the file's name, 128 random
 * bits, who opens it knows that it is still that one.
 */
#include "driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SIZE 33

/* What is in the runtimes' 64 bytes. */
typedef struct handle {
  char magic[8];
  int32_t process, file;
  char name[NAME_SIZE];
  char zero[15];
} handle;

_Static_assert(sizeof(handle) == 64, "as the runtimes have it");
static const char magic[8] = "KWTESTHD";

/* Memory that may be named, or that was opened. */
typedef struct named {
  handle handle; /* without a magic number: nobody has asked for it yet */
  void *begin;
  size_t size;
  int opened; /* how often; 0: it is this process's */
  struct named *next;
} named;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static named *all; /* under the lock */

/* The link to it, or to the end of the list. */
static named **find(const void *begin) {
  named **link = &all;
  while (*link && (*link)->begin != begin) link = &(*link)->next;
  return link;
}

static int add(named added) {
  named *made = malloc(sizeof *made);
  if (!made) return OUT_OF_MEMORY;
  *made = added;
  made->next = all;
  all = made;
  return OK;
}

static int entered(void) {
  context *home;
  return driver_enter(&home);
}

/* ---- For others -------------------------------------------------------------------------------------------------- */

int driver_may_name(void *begin, size_t size) {
  if (size % DRIVER_BLOCK != 0) return OK;
  pthread_mutex_lock(&lock);
  int error = add((named){.begin = begin, .size = size});
  pthread_mutex_unlock(&lock);
  return error;
}

void driver_unname(void *begin) {
  pthread_mutex_lock(&lock);
  named **link = find(begin), *gone = *link;
  if (gone && gone->opened == 0) *link = gone->next;
  pthread_mutex_unlock(&lock);
  if (!gone || gone->opened > 0) return;
  if (gone->handle.magic[0]) { /* pages of its own again, for who has allocated them */
    close(gone->handle.file);
    mmap(begin, gone->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  free(gone);
}

/* Where it lies: a mapped copy takes its place. Nothing may work on it meanwhile. */
static int make_file(named *memory) {
  handle made = {.process = getpid()};
  unsigned char random[(NAME_SIZE - 1) / 2];
  if (getrandom(random, sizeof random, 0) != sizeof random) return OUT_OF_MEMORY;
  for (size_t i = 0; i < sizeof random; i++) snprintf(made.name + 2 * i, 3, "%02x", random[i]);
  made.file = memfd_create(made.name, MFD_CLOEXEC);
  if (made.file < 0) return OUT_OF_MEMORY;
  void *copy = ftruncate(made.file, (off_t)memory->size) == 0
                   ? mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, made.file, 0)
                   : MAP_FAILED;
  if (copy == MAP_FAILED) {
    close(made.file);
    return OUT_OF_MEMORY;
  }
  memcpy(copy, memory->begin, memory->size);
  if (mremap(copy, memory->size, memory->size, MREMAP_MAYMOVE | MREMAP_FIXED, memory->begin) == MAP_FAILED) {
    munmap(copy, memory->size);
    close(made.file);
    return OUT_OF_MEMORY;
  }
  memcpy(made.magic, magic, sizeof magic);
  memory->handle = made;
  return OK;
}

/* Of the start of an allocation by cuMemAlloc or hipMalloc that shares no block with others; not of memory from pools.
 */
API(cuIpcGetMemHandle, hipIpcGetMemHandle)(handle *out, void *memory) {
  int error = entered();
  if (error) return error;
  pthread_mutex_lock(&lock);
  named *found = *find(memory);
  if (!found || found->opened > 0) error = INVALID_VALUE;
  if (!error && !found->handle.magic[0]) error = make_file(found);
  if (!error) *out = found->handle;
  pthread_mutex_unlock(&lock);
  return error;
}

/* ---- Of others --------------------------------------------------------------------------------------------------- */

/* The file that a handle names, or -1. What it says comes from elsewhere, and may be anything. */
static int open_file(const handle *from) {
  char path[64], want[80], is[80];
  const int length = snprintf(want, sizeof want, "/memfd:%.32s (deleted)", from->name);
  snprintf(path, sizeof path, "/proc/%d/fd/%d", from->process, from->file);
  const bool same = readlink(path, is, sizeof is) == length && memcmp(is, want, (size_t)length) == 0;
  return same ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

static int map(const handle *from, void **out) {
  struct stat facts;
  const int file = open_file(from);
  if (file < 0) return INVALID_VALUE;
  const size_t size = fstat(file, &facts) == 0 ? (size_t)facts.st_size : 0;
  void *begin = size > 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (begin == MAP_FAILED) return OUT_OF_MEMORY;
  const bool adopted = kw_engine_adopt(begin, size) == KW_ENGINE_OK;
  if (adopted && add((named){.handle = *from, .begin = begin, .size = size, .opened = 1}) == OK) {
    *out = begin;
    return OK;
  }
  if (adopted) kw_engine_disown(begin);
  munmap(begin, size);
  return OUT_OF_MEMORY;
}

/* A handle that is open already gives the same address once more. Its own process cannot open it. */
API(cuIpcOpenMemHandle_v2, hipIpcOpenMemHandle)(void **out, handle from, unsigned flags) {
  int error = entered();
  if (error) return error;
  if (flags != 1 || memcmp(from.magic, magic, sizeof magic) != 0) return INVALID_VALUE;
  if (from.process == getpid()) return INVALID_CONTEXT;
  pthread_mutex_lock(&lock);
  named *found = all;
  while (found && memcmp(&found->handle, &from, sizeof from) != 0) found = found->next;
  if (found) {
    ++found->opened;
    *out = found->begin;
  } else {
    error = map(&from, out);
  }
  pthread_mutex_unlock(&lock);
  return error;
}

API(cuIpcCloseMemHandle, hipIpcCloseMemHandle)(void *memory) {
  int error = entered();
  pthread_mutex_lock(&lock);
  named **link = find(memory), *found = *link;
  const bool known = found && found->opened > 0, last = known && --found->opened == 0;
  if (last) *link = found->next;
  pthread_mutex_unlock(&lock);
  if (!known) return INVALID_VALUE;
  if (!last) return error;
  kw_engine_disown(memory);
  munmap(memory, found->size);
  free(found);
  return error;
}

API(cuMemGetAddressRange_v2, hipMemGetAddressRange)(void **out_begin, size_t *out_size, void *inside) {
  kw_engine_allocation found;
  int error = entered();
  if (error) return error;
  if (!kw_engine_find(inside, &found)) return NOT_FOUND;
  *out_begin = found.base;
  *out_size = found.size;
  return OK;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Sealed memfds. Another process finds one as /proc/PROCESS/fd/FILE, and knows by a token in its name, 128 random bits,
 * that it is the one meant and that it was made to be found: nothing else in the bytes is believed.
 */
#include "shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "keyway:"

typedef struct ipc_bytes {
  uint32_t process;
  uint32_t file;
  uint8_t token[16];
  uint8_t zero[KW_IPC_SIZE - 24];
} ipc_bytes;

_Static_assert(sizeof(ipc_bytes) == KW_IPC_SIZE, "the plugin's bytes");

static uint64_t page_size(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The memfd's name: "keyway:0123...". */
static void spell(const uint8_t token[16], char name[40]) {
  snprintf(name, 40, NAME);
  for (int i = 0; i < 16; i++) snprintf(name + sizeof NAME - 1 + 2 * i, 3, "%02x", token[i]);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static int create_file(uint64_t size, const uint8_t token[16]) {
  char name[40];
  spell(token, name);
  const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (size <= INT64_MAX && ftruncate(file, (off_t)size) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    return file;
  }
  close(file);
  return -1;
}

/* A page of this process's own, then the file. */
static char *map_behind_page(int file, uint64_t size) {
  const uint64_t page = page_size();
  char *start = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return NULL;
  if (mmap(start + page, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) return start;
  munmap(start, page + size);
  return NULL;
}

kw_cpu_block *kw_cpu_shared_create(uint64_t size, bool ipc) {
  uint8_t token[16];
  if (getrandom(token, sizeof token, 0) != sizeof token) return NULL;
  const int file = create_file(size, token);
  char *start = file >= 0 ? map_behind_page(file, size) : NULL;
  if (start == NULL) {
    if (file >= 0) close(file);
    return NULL;
  }
  kw_cpu_block *block = kw_cpu_block_of(start + page_size());
  block->size = size;
  block->file = file;
  block->ipc = ipc;
  memcpy(block->token, token, sizeof token);
  return block;
}

void kw_cpu_shared_destroy(kw_cpu_block *block) {
  const uint64_t page = page_size();
  close(block->file);
  munmap((char *)(block + 1) - page, page + block->size);
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

void kw_cpu_shared_name(const kw_cpu_block *block, uint8_t bytes[KW_IPC_SIZE]) {
  ipc_bytes name = {.process = (uint32_t)getpid(), .file = (uint32_t)block->file};
  memcpy(name.token, block->token, sizeof name.token);
  memcpy(bytes, &name, sizeof name);
}

/* Whether what is open at `path` is the memfd of the token. */
static bool is_named(const char *path, const uint8_t token[16]) {
  char name[40], want[64], is[64];
  spell(token, name);
  const int length = snprintf(want, sizeof want, "/memfd:%s (deleted)", name);
  return readlink(path, is, sizeof is) == length && memcmp(is, want, (size_t)length) == 0;
}

/* Opens it without touching it first: it may be a device or a pipe. */
int kw_cpu_shared_find(const uint8_t bytes[KW_IPC_SIZE], const char **out_reason) {
  static const uint8_t zero[sizeof(((ipc_bytes *)0)->zero)];
  char path[64];
  ipc_bytes name;
  memcpy(&name, bytes, sizeof name);
  *out_reason = "no export of the cpu gave these bytes";
  if (memcmp(name.zero, zero, sizeof zero) != 0) return -1;
  *out_reason = "the memory that they name is gone, or its process is another user's or in another container";
  snprintf(path, sizeof path, "/proc/%u/fd/%u", name.process, name.file);
  const int place = open(path, O_PATH | O_CLOEXEC);
  if (place < 0) return -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", place);
  const int file = is_named(path, name.token) ? open(path, O_RDWR | O_CLOEXEC) : -1;
  close(place);
  return file;
}

/* ---- Mapping ----------------------------------------------------------------------------------------------------- */

void *kw_cpu_shared_map(int file, uint64_t offset, uint64_t size, bool read_only, const char **out_reason) {
  struct stat facts;
  const int seals = fcntl(file, F_GET_SEALS);
  const uint64_t before = offset % page_size();
  *out_reason = "it is no memfd whose size is sealed (F_SEAL_SHRINK)";
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file, &facts) != 0) return NULL;
  *out_reason = "the range reaches past its end";
  if (offset > (uint64_t)facts.st_size || size > (uint64_t)facts.st_size - offset) return NULL;
  *out_reason = "mmap failed: out of address space, or the descriptor is for reading only";
  char *start =
      mmap(NULL, before + size, PROT_READ | (read_only ? 0 : PROT_WRITE), MAP_SHARED, file, (off_t)(offset - before));
  return start == MAP_FAILED ? NULL : start + before;
}

void kw_cpu_shared_unmap(void *memory, uint64_t size) {
  const uint64_t before = (uintptr_t)memory % page_size();
  munmap((char *)memory - before, before + size);
}

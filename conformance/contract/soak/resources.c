/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process holds, read from /proc, malloc and the plugin.
 */
#include "resources.h"

#include "arenas.h"
#include "base/clock.h"
#include "base/process_clock.h"
#include "contract/contract_helpers.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

/* Sanitizers keep freed memory and reserve addresses by the terabyte. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_TELLS false
#else
#define MEMORY_TELLS true
#endif

#define ENDING_LIMIT 10.0 /* seconds of the process's own time that threads may take to end */
#define QUIET 0.3         /* seconds in which nothing of the process ran or wanted to: then no thread is about to end */

static const struct {
  const char *name;
  bool memory;
} resources[KW_RESOURCE_COUNT] = {
    [KW_RESOURCE_DESCRIPTORS] = {"descriptors", false},
    [KW_RESOURCE_THREADS] = {"threads", false},
    [KW_RESOURCE_MAPPINGS] = {"mappings of memory", false},
    [KW_RESOURCE_DEVICE] = {"bytes of device memory (kw_memory_get_usage)", true},
    [KW_RESOURCE_HEAP] = {"bytes of the heap", true},
    [KW_RESOURCE_RESIDENT] = {"bytes of resident memory", true},
    [KW_RESOURCE_ADDRESSES] = {"bytes of address space", true},
};

const char *kw_resource_name(kw_resource resource) {
  return resources[resource].name;
}

bool kw_resource_is_memory(kw_resource resource) {
  return resources[resource].memory;
}

static int64_t entries(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) return -1;
  int64_t count = 0;
  for (const struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static int64_t lines(const char *path) {
  FILE *file = fopen(path, "re");
  if (!file) return -1;
  int64_t count = 0;
  for (int byte; (byte = getc(file)) != EOF;) count += byte == '\n';
  fclose(file);
  return count;
}

/* The sum of the numbers behind `keys`, of which the second one may be NULL, in a file of such lines, in KiB there, as
 * bytes; -1 without one of them. */
static int64_t kib_in(const char *path, const char *const keys[2]) {
  FILE *file = fopen(path, "re");
  char line[256];
  int64_t kib = 0;
  int missing = keys[1] ? 2 : 1;
  while (file && missing > 0 && fgets(line, sizeof line, file)) {
    for (int k = 0; k < 2 && keys[k]; k++) {
      if (strncmp(line, keys[k], strlen(keys[k])) != 0) continue;
      kib += strtoll(line + strlen(keys[k]), NULL, 10);
      missing--;
    }
  }
  if (file) fclose(file);
  return missing > 0 ? -1 : kib * 1024;
}

/* -1 where there is no device, too: in a process that has a plugin as its guest. */
static int64_t device_used(void) {
  uint64_t unused = 0, total = 0;
  return kw_memory_get_usage(kw_contract.device, &unused, &total) == KW_OK ? (int64_t)(total - unused) : -1;
}

int64_t kw_resource_heap(void) {
  const struct mallinfo2 heap = mallinfo2();
  return (int64_t)(heap.uordblks + heap.hblkhd);
}

bool kw_resource_memory_tells(void) {
  return MEMORY_TELLS;
}

/* Whether an emulator of another processor runs this process, which shows itself as the program that it runs but for
 * the files of its threads. It keeps memory for each thread that has ended, and nobody can tell that from the plugin's.
 */
static bool is_emulated(void) {
  char thread[64], shown[PATH_MAX], real[PATH_MAX];
  snprintf(thread, sizeof thread, "/proc/self/task/%d/exe", (int)gettid());
  const ssize_t shown_length = readlink("/proc/self/exe", shown, sizeof shown);
  const ssize_t real_length = readlink(thread, real, sizeof real);
  return shown_length > 0 && real_length > 0 &&
         (shown_length != real_length || memcmp(shown, real, (size_t)real_length) != 0);
}

static void take_memory(kw_resources *out) {
  out->held[KW_RESOURCE_HEAP] = kw_resource_heap();
  out->held[KW_RESOURCE_MAPPINGS] = lines("/proc/self/maps");
  if (is_emulated()) return;
  /* What was written to: of files that are read, libraries among them, the system maps as much as it likes, whole huge
   * pages for one byte. Exact, unlike statm, where each processor counts some pages for itself. */
  out->held[KW_RESOURCE_RESIDENT] =
      kib_in("/proc/self/smaps_rollup", (const char *[]){"Private_Dirty:", "Shared_Dirty:"});
  out->held[KW_RESOURCE_ADDRESSES] = kib_in("/proc/self/status", (const char *[]){"VmSize:", NULL});
  const kw_malloc_addresses of_malloc = kw_malloc_addresses_now();
  if (out->held[KW_RESOURCE_ADDRESSES] >= 0) out->held[KW_RESOURCE_ADDRESSES] -= of_malloc.arenas + of_malloc.heap;
}

/* Threads that were told to end and have not been run since. */
static void let_threads_end(int64_t before) {
  kw_process_clock clock;
  kw_process_clock_begin(&clock, NULL, getpid(), 0, kw_clock_seconds());
  while (entries("/proc/self/task") > before && clock.quiet < QUIET && clock.passed < ENDING_LIMIT) {
    usleep(20000);
    kw_process_clock_step(&clock, kw_clock_seconds());
  }
  kw_process_clock_free(&clock);
}

void kw_resources_take(const kw_resources *before, kw_resources *out) {
  if (kw_contract.device) {
    KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
    KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  }
  for (int r = 0; r < KW_RESOURCE_COUNT; r++) out->held[r] = -1;
  if (before) let_threads_end(before->held[KW_RESOURCE_THREADS]);
  if (MEMORY_TELLS) take_memory(out);
  out->held[KW_RESOURCE_DEVICE] = device_used();
  out->held[KW_RESOURCE_THREADS] = entries("/proc/self/task");
  out->held[KW_RESOURCE_DESCRIPTORS] = entries("/proc/self/fd");
}

void kw_resource_last_descriptor(char *out_text, size_t size) {
  char path[64];
  int last = -1;
  DIR *folder = opendir("/proc/self/fd");
  out_text[0] = 0;
  if (!folder) return;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    const int fd = entry->d_name[0] == '.' ? -1 : atoi(entry->d_name);
    if (fd > last && fd != dirfd(folder)) last = fd;
  }
  closedir(folder);
  snprintf(path, sizeof path, "/proc/self/fd/%d", last);
  const ssize_t length = last >= 0 ? readlink(path, out_text, size - 1) : -1;
  out_text[length > 0 ? length : 0] = 0;
  /* "/memfd:NAME", "socket:[NUMBER]": what is behind differs from one to the next. */
  if (strncmp(out_text, "anon_inode:", 11) != 0) out_text[strcspn(out_text, ":")] = 0;
}

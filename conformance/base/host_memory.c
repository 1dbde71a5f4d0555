/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's memory, as /proc and the cgroups tell of it.
 */
#include "base/host_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The number behind `name` in a file of lines "NAME NUMBER"; the number alone where name is "". False: no such line. */
static bool read_number(const char *path, const char *name, uint64_t *out_number) {
  char line[256];
  bool found = false;
  FILE *file = fopen(path, "re");
  while (file && !found && fgets(line, sizeof line, file)) {
    const size_t length = strlen(name);
    found = strncmp(line, name, length) == 0 && sscanf(line + length, " %" SCNu64, out_number) == 1;
  }
  if (file) fclose(file);
  return found;
}

/* What a cgroup leaves; UINT64_MAX where it has no limit. What its files keep in memory can be dropped. */
static uint64_t left_in_cgroup(const char *path) {
  char file[PATH_MAX + 64];
  uint64_t limit = 0, used = 0, files = 0;
  snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.max", path);
  if (!read_number(file, "", &limit)) return UINT64_MAX;
  snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.current", path);
  if (!read_number(file, "", &used)) return UINT64_MAX;
  snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.stat", path);
  if (read_number(file, "inactive_file ", &files) && files < used) used -= files;
  return used < limit ? limit - used : 0;
}

/* The same of this process's own cgroup and of all that it lies in. */
static uint64_t left_in_cgroups(void) {
  char path[PATH_MAX] = "";
  FILE *file = fopen("/proc/self/cgroup", "re");
  char line[PATH_MAX];
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "0::", 3) == 0) snprintf(path, sizeof path, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
  }
  if (file) fclose(file);
  uint64_t left = left_in_cgroup("");
  for (char *end; *path && (end = strrchr(path, '/')) != NULL; *end = 0) {
    const uint64_t here = left_in_cgroup(path);
    if (here < left) left = here;
  }
  return left;
}

uint64_t kw_host_memory_available(void) {
  uint64_t kib = 0, left = left_in_cgroups();
  if (!read_number("/proc/meminfo", "MemAvailable:", &kib)) return left;
  return left < kib * 1024 ? left : kib * 1024;
}

uint64_t kw_host_memory_kills(void) {
  uint64_t kills = 0;
  return read_number("/proc/vmstat", "oom_kill ", &kills) ? kills : 0;
}

void kw_host_memory_volunteer(int first) {
  FILE *file = fopen("/proc/self/oom_score_adj", "we");
  if (!file) return;
  fprintf(file, "%d", first ? 1000 : 0);
  fclose(file);
}

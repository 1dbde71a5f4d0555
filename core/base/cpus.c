/* SPDX-License-Identifier: Apache-2.0
 *
 * The affinity mask, and the quotas of cgroups of both versions: cpu.max, and cpu.cfs_quota_us beside
 * cpu.cfs_period_us.
 */
#include "base/cpus.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_MASK 1024 /* CPUs */
#define LARGEST_MASK (1 << 20)

/* A mount of a hierarchy that rations CPU time. */
typedef struct mount {
  char root[PATH_MAX];  /* the cgroup that is seen at `point` */
  char point[PATH_MAX]; /* where, in the file system */
  bool unified;         /* version 2 */
} mount;

/* The kernel refuses masks that are smaller than its own, which may be of more than 1024 CPUs. */
static uint32_t count_mask(void) {
  for (int cpus = SMALLEST_MASK; cpus <= LARGEST_MASK; cpus *= 2) {
    const size_t size = CPU_ALLOC_SIZE(cpus);
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (set == NULL) return 0;
    const int error = sched_getaffinity(0, size, set) == 0 ? 0 : errno;
    const int count = error == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (error != EINVAL) return (uint32_t)count;
  }
  return 0;
}

uint32_t kw_cpus_count(void) {
  const uint32_t mask = count_mask(), quota = kw_cpus_quota("");
  const uint32_t count = mask < quota ? mask : quota;
  return count > 0 ? count : 1;
}

/* ---- Quotas ------------------------------------------------------------------------------------------------------ */

static bool has_word(const char *list, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = list;; at++) {
    const size_t here = strcspn(at, ",");
    if (here == length && memcmp(at, word, length) == 0) return true;
    at += here;
    if (*at == '\0') return false;
  }
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS. False for other mounts, and for other text.
 */
static bool read_mount(const char *line, mount *out) {
  char type[16], options[256];
  const char *tail = strstr(line, " - ");
  if (tail == NULL || sscanf(tail, " - %15s %*s %255s", type, options) != 2) return false;
  if (sscanf(line, "%*s %*s %*s %4095s %4095s", out->root, out->point) != 2) return false;
  out->unified = strcmp(type, "cgroup2") == 0;
  return out->unified || (strcmp(type, "cgroup") == 0 && has_word(options, "cpu"));
}

static FILE *open_file(const char *folder, const char *name) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* The process's cgroup in the mount's hierarchy, by a line ID:CONTROLLERS:PATH, where version 2 names no controllers.
 */
static bool read_cgroup(const char *root, bool unified, char *out_path, size_t size) {
  FILE *file = open_file(root, "proc/self/cgroup");
  if (file == NULL) return false;
  char *line = NULL;
  size_t capacity = 0;
  bool found = false;
  while (!found && getline(&line, &capacity, file) > 0) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) continue;
    *controllers++ = '\0';
    *path++ = '\0';
    found = unified ? strcmp(line, "0") == 0 && *controllers == '\0' : has_word(controllers, "cpu");
    if (found) found = snprintf(out_path, size, "%s", path) < (int)size;
  }
  free(line);
  fclose(file);
  return found;
}

/* The numbers of a file, `count` of them and no more. */
static bool read_numbers(const char *folder, const char *name, long long *out, int count) {
  FILE *file = open_file(folder, name);
  if (file == NULL) return false;
  char line[64];
  char *at = fgets(line, sizeof line, file), *end;
  fclose(file);
  for (int i = 0; at != NULL && i < count; i++, at = end) {
    errno = 0;
    out[i] = strtoll(at, &end, 10);
    if (end == at || errno != 0) return false;
  }
  return at != NULL && (*at == '\n' || *at == '\0');
}

/* Of one cgroup. The file of version 2 says "max 100000" where there is no quota, those of version 1 say -1. */
static uint32_t read_quota(const char *folder, bool unified) {
  long long us[2]; /* of CPU time, in so much time */
  const bool is_set =
      unified ? read_numbers(folder, "cpu.max", us, 2)
              : read_numbers(folder, "cpu.cfs_quota_us", us, 1) && read_numbers(folder, "cpu.cfs_period_us", us + 1, 1);
  if (!is_set || us[0] <= 0 || us[1] <= 0 || us[0] / us[1] >= KW_CPUS_ALL) return KW_CPUS_ALL;
  return us[0] < us[1] ? 1 : (uint32_t)(us[0] / us[1]);
}

/* A cgroup gets no more than any above it, as far up as the mount shows them. */
static uint32_t read_quotas(const char *root, const mount *m) {
  char cgroup[PATH_MAX], folder[PATH_MAX];
  if (!read_cgroup(root, m->unified, cgroup, sizeof cgroup)) return KW_CPUS_ALL;
  /* Not below the mount's root: the process was moved after its view of cgroups was made. The top is what it sees. */
  const size_t seen = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
  const bool below = strncmp(cgroup, m->root, seen) == 0 && cgroup[seen] == '/' && strncmp(cgroup, "/..", 3) != 0;
  const int top = snprintf(folder, sizeof folder, "%s%s", root, m->point);
  if (top >= (int)sizeof folder) return KW_CPUS_ALL;
  const int length = snprintf(folder + top, sizeof folder - (size_t)top, "%s", below ? cgroup + seen : "");
  if (length >= (int)sizeof folder - top) return KW_CPUS_ALL;

  uint32_t least = read_quota(folder, m->unified);
  for (int at = top + length - 1; at >= top; at--) {
    if (folder[at] != '/') continue;
    folder[at] = '\0';
    const uint32_t quota = read_quota(folder, m->unified);
    if (quota < least) least = quota;
  }
  return least;
}

uint32_t kw_cpus_quota(const char *root) {
  uint32_t least = KW_CPUS_ALL;
  FILE *mounts = open_file(root, "proc/self/mountinfo");
  if (mounts == NULL) return least;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, mounts) > 0) {
    mount m;
    if (!read_mount(line, &m)) continue;
    const uint32_t quota = read_quotas(root, &m);
    if (quota < least) least = quota;
  }
  free(line);
  fclose(mounts);
  return least;
}

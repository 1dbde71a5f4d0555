/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the files for `keyway top` are, and which process is which.
 */
#include "base/live_file.h"

#include "base/home.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool folder_name(char *path, size_t size) {
  const char *const places[][2] = {{secure_getenv("XDG_RUNTIME_DIR"), "keyway"},
                                   {secure_getenv("XDG_CACHE_HOME"), "keyway/live"},
                                   {kw_home(), ".cache/keyway/live"}};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    const char *base = places[i][0];
    if (base != NULL && base[0] == '/') return (size_t)snprintf(path, size, "%s/%s", base, places[i][1]) < size;
  }
  return false;
}

int kw_live_folder_open(bool make) {
  char path[PATH_MAX];
  struct stat info;
  if (!folder_name(path, sizeof path)) return -1;
  for (char *slash = strchr(path + 1, '/'); make && slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  if (make) (void)mkdir(path, 0700);
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  if (fstat(folder, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return folder;
  close(folder);
  return -1;
}

uint64_t kw_live_start_of(int process) {
  char path[32], text[1024], state;
  uint64_t start;
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  const char *name_end = strrchr(text, ')'); /* the name may hold anything */
  if (name_end == NULL ||
      sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
             &state, &start) != 2)
    return 0;
  return state == 'Z' || state == 'X' ? 0 : start;
}

uint64_t kw_live_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder is opened once for each use, by the walk that plugins are opened by, and its files by its descriptor.
 */
#include "plugin/cache_folder.h"

#include "base/error.h"
#include "base/home.h"
#include "base/log.h"
#include "plugin/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static bool folder_name(char *path, size_t size) {
  const char *base = secure_getenv("XDG_CACHE_HOME");
  if (base != NULL && base[0] == '/') return (size_t)snprintf(path, size, "%s/keyway", base) < size;
  const char *home = kw_home();
  return home != NULL && (size_t)snprintf(path, size, "%s/.cache/keyway", home) < size;
}

static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static void complain(const char *path, const char *reason) {
  static atomic_bool said;
  if (atomic_exchange(&said, true)) return;
  kw_log(KW_LOG_WARN, "nothing is kept in %s, and plugins are probed at every start: %s", path, reason);
}

int kw_cache_folder_open(const char *below) {
  char path[PATH_MAX], base[PATH_MAX - 64];
  kw_safe_path found;
  if (!folder_name(base, sizeof base)) return -1;
  snprintf(path, sizeof path, "%s%s%s", base, below != NULL ? "/" : "", below != NULL ? below : "");
  kw_status status = kw_safe_path_open(path, "", &found);
  if (status == KW_ERR_NOT_FOUND) { /* the first time here */
    kw_error_clear();
    if (make_folders(path)) status = kw_safe_path_open(path, "", &found);
  }
  if (status != KW_OK) {
    kw_log(KW_LOG_INFO, "%s cannot be made (%s): plugins are probed at every start", path, strerror(errno));
    kw_error_clear();
    return -1;
  }
  if (found.danger[0] == '\0' && S_ISDIR(found.info.st_mode)) return found.file;
  complain(path, found.danger[0] != '\0' ? found.danger : "it is no folder");
  if (found.file >= 0) close(found.file);
  return -1;
}

static bool write_whole(int file, const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t count = write(file, text, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text += count;
    left -= (size_t)count;
  }
  return true;
}

bool kw_cache_file_write(int folder, const char *name, const char *text) {
  uint64_t number;
  char temporary[NAME_MAX + 1];
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) return false;
  snprintf(temporary, sizeof temporary, "%s.%016llx", name, (unsigned long long)number);
  const int file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool written = write_whole(file, text);
  written = close(file) == 0 && written;
  if (written && renameat(folder, temporary, folder, name) == 0) return true;
  unlinkat(folder, temporary, 0);
  return false;
}

char *kw_cache_file_read(int folder, const char *name, long limit) {
  const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat info;
  char *text = NULL;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      (info.st_mode & (S_IWOTH | S_IWGRP)) == 0 && info.st_size <= limit) {
    const size_t size = (size_t)info.st_size;
    text = malloc(size + 1);
    ssize_t count = text != NULL ? read(file, text, size) : 0;
    if (text != NULL) text[count > 0 ? count : 0] = '\0';
  }
  close(file);
  return text;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for plugin files: directories in order, and what makes a file or a directory unfit to be opened.
 */
#include "plugin/discover.h"

#include "base/array.h"
#include "base/error.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Where the library is ---------------------------------------------------------------------------------------- */

static char library_directory[PATH_MAX + 8];
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

static void cut_last_component(char *path) {
  char *slash = strrchr(path, '/');
  if (slash != NULL) slash[slash == path ? 1 : 0] = '\0';
}

/* realpath; "" where there is nothing. False when that is for want of memory or files. */
static bool resolve_path(const char *path, char resolved[PATH_MAX]) {
  if (realpath(path, resolved) != NULL) return true;
  resolved[0] = '\0';
  return !kw_errno_is_shortage(errno);
}

/* Under the lock. False when it cannot be told for want of memory or files. */
static bool find_library(void) {
  char program[PATH_MAX], library[PATH_MAX] = "";
  Dl_info info;
  if (!resolve_path("/proc/self/exe", program)) return false;
  if (dladdr((void *)(uintptr_t)kw_library_directory, &info) != 0 && info.dli_fname != NULL &&
      !resolve_path(info.dli_fname, library)) {
    return false;
  }
  if (library[0] != '\0' && strcmp(library, program) != 0) {
    cut_last_component(library);
    snprintf(library_directory, sizeof library_directory, "%s", library);
  } else if (program[0] != '\0') {
    cut_last_component(program);
    cut_last_component(program);
    snprintf(library_directory, sizeof library_directory, "%s/lib", program);
  }
  return true;
}

const char *kw_library_directory(void) {
  pthread_mutex_lock(&library_lock);
  bool found = library_directory[0] != '\0' || find_library();
  pthread_mutex_unlock(&library_lock);
  if (found) return library_directory;
  kw_fail(KW_ERR_OUT_OF_MEMORY, "the library's own directory cannot be told: %s", strerror(errno));
  return NULL;
}

/* ---- One file ---------------------------------------------------------------------------------------------------- */

static void refuse(kw_candidate *candidate, kw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void refuse(kw_candidate *candidate, kw_status status, const char *format, ...) {
  candidate->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(candidate->reason, sizeof candidate->reason, format, arguments);
  va_end(arguments);
}

/* Why users other than this one and root could have put code here; false when none could. */
static bool is_unsafe(const struct stat *info, const char *what, char *reason, size_t size) {
  bool directory = S_ISDIR(info->st_mode);
  if ((info->st_mode & S_IWOTH) != 0 && !(directory && (info->st_mode & S_ISVTX) != 0)) {
    snprintf(reason, size, "%s may be written by everyone: chmod o-w it", what);
    return true;
  }
  if (info->st_uid != 0 && info->st_uid != geteuid()) {
    snprintf(reason, size, "%s belongs to user %u, neither to root nor to you: chown it", what, (unsigned)info->st_uid);
    return true;
  }
  return false;
}

static kw_status status_of(int error) {
  return kw_errno_is_shortage(error) ? KW_ERR_OUT_OF_MEMORY : KW_ERR_IO;
}

/* Whether the file or its directory is unsafe. A directory that cannot be looked at refuses the candidate. */
static bool file_is_unsafe(kw_candidate *candidate, const struct stat *info, char *reason, size_t size) {
  if (is_unsafe(info, "the file", reason, size)) return true;
  char directory[PATH_MAX];
  snprintf(directory, sizeof directory, "%s", candidate->path);
  cut_last_component(directory);
  struct stat directory_info;
  if (stat(directory, &directory_info) == 0) return is_unsafe(&directory_info, "its directory", reason, size);
  refuse(candidate, status_of(errno), "its directory cannot be looked at: %s", strerror(errno));
  return false;
}

static void check_contents(kw_candidate *candidate) {
  int file = open(candidate->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    refuse(candidate, status_of(errno), "cannot be read: %s", strerror(errno));
    return;
  }
  char magic[SELFMAG] = {0};
  ssize_t count = read(file, magic, sizeof magic);
  close(file);
  if (count != SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0) {
    refuse(candidate, KW_ERR_IO, "is not a shared object (no ELF header)");
  }
}

static uint64_t nanoseconds(struct timespec time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

kw_status kw_candidate_examine(const char *path, bool trusted, kw_candidate *out_candidate) {
  kw_candidate candidate = {.status = KW_OK};
  candidate.path = realpath(path, NULL);
  if (candidate.path == NULL) {
    if (errno == ENOENT || errno == ENOTDIR) return kw_fail(KW_ERR_NOT_FOUND, "there is no file %s", path);
    return kw_fail(status_of(errno), "%s cannot be reached: %s", path, strerror(errno));
  }
  struct stat info;
  if (stat(candidate.path, &info) != 0) {
    int error = errno;
    free(candidate.path);
    return kw_fail(status_of(error), "%s cannot be looked at: %s", path, strerror(error));
  }
  candidate.device = info.st_dev;
  candidate.inode = info.st_ino;
  candidate.size = (uint64_t)info.st_size;
  candidate.mtime_ns = nanoseconds(info.st_mtim);
  candidate.ctime_ns = nanoseconds(info.st_ctim);

  char danger[256];
  bool unsafe = file_is_unsafe(&candidate, &info, danger, sizeof danger);
  if (candidate.status != KW_OK) {
    /* refused already */
  } else if (S_ISDIR(info.st_mode)) {
    refuse(&candidate, KW_ERR_IO, "is a directory");
  } else if (!S_ISREG(info.st_mode)) {
    refuse(&candidate, KW_ERR_IO, "is not a regular file");
  } else if (unsafe && !trusted) {
    refuse(&candidate, KW_ERR_PERMISSION, "not opened: %s, or name the file explicitly if you trust it", danger);
  } else if (info.st_size == 0) {
    refuse(&candidate, KW_ERR_IO, "is empty (0 bytes)");
  } else {
    check_contents(&candidate);
    if (unsafe && candidate.status == KW_OK) refuse(&candidate, KW_OK, "warning: %s", danger);
  }
  if (candidate.status == KW_ERR_OUT_OF_MEMORY) {
    free(candidate.path);
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: %s", path, candidate.reason);
  }
  *out_candidate = candidate;
  return KW_OK;
}

/* ---- All files --------------------------------------------------------------------------------------------------- */

/* Takes over candidate->path. */
static kw_status add(kw_candidates *list, kw_candidate *candidate) {
  for (uint32_t i = 0; i < list->count; i++) {
    const kw_candidate *other = &list->items[i];
    if (candidate->inode != 0 && other->inode == candidate->inode && other->device == candidate->device) {
      free(candidate->path);
      return KW_OK; /* the same file by another name */
    }
  }
  kw_candidate *items = kw_array_grow(list->items, list->count, sizeof *items);
  if (items == NULL) {
    free(candidate->path);
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the list of plugins");
  }
  list->items = items;
  list->items[list->count++] = *candidate;
  return KW_OK;
}

/* A line of the report for a place that gave no files. */
static kw_status add_refused(kw_candidates *list, const char *path, kw_status why, const char *reason) {
  kw_candidate candidate = {.path = strdup(path)};
  if (candidate.path == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the list of plugins");
  refuse(&candidate, why, "%s", reason);
  return add(list, &candidate);
}

static int is_library_name(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static kw_status add_file(kw_candidates *list, const char *path) {
  kw_candidate candidate;
  kw_status status = kw_candidate_examine(path, false, &candidate);
  if (status == KW_ERR_OUT_OF_MEMORY) return status;
  if (status != KW_OK) return add_refused(list, path, status, kw_error_message());
  return add(list, &candidate);
}

/* ---- All directories --------------------------------------------------------------------------------------------- */

/* What kw_discover went through. Unchanged once a search has succeeded. */
static kw_plugin_directory *directories;
static uint32_t directory_count;

static const char by_search_path[] = "KEYWAY_PLUGIN_PATH";

/* NULL with an error when memory is out. The pointer is good until the next call. */
static kw_plugin_directory *remember_directory(const char *path, const char *origin) {
  kw_plugin_directory *grown = kw_array_grow(directories, directory_count, sizeof *grown);
  if (grown != NULL) directories = grown;
  char *copy = grown != NULL ? strdup(path) : NULL;
  if (copy == NULL) {
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the list of plugin directories");
    return NULL;
  }
  kw_plugin_directory *directory = &directories[directory_count++];
  *directory = (kw_plugin_directory){.state = KW_DIRECTORY_SEARCHED, .path = copy, .origin = origin, .reason = ""};
  return directory;
}

static void forget_directories(void) {
  while (directory_count > 0) {
    const kw_plugin_directory *directory = &directories[--directory_count];
    free((char *)directory->path);
    if (directory->reason[0] != '\0') free((char *)directory->reason);
  }
}

/* The directory gives no files. `shown` is its name in the report about plugins, where an absent one has a line only if
 * the user asked for it. */
static kw_status pass_over(kw_candidates *list, kw_plugin_directory *directory, const char *shown, kw_status why,
                           const char *reason) {
  bool absent = why == KW_ERR_NOT_FOUND;
  directory->state = absent ? KW_DIRECTORY_ABSENT : KW_DIRECTORY_REFUSED;
  const char *copy = strdup(reason);
  if (copy == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the list of plugin directories");
  directory->reason = copy;
  return absent && directory->origin != by_search_path ? KW_OK : add_refused(list, shown, why, reason);
}

static kw_status fail_short(const char *path) {
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s cannot be searched for plugins now: %s", path, strerror(errno));
}

static kw_status add_directory(kw_candidates *list, const char *path, const char *origin) {
  kw_plugin_directory *entry = remember_directory(path, origin);
  if (entry == NULL) return KW_ERR_OUT_OF_MEMORY;
  if (path[0] == '\0') {
    return pass_over(list, entry, origin, KW_ERR_INVALID_ARGUMENT,
                     "an empty element would mean the current directory: remove it");
  }
  if (path[0] != '/') {
    return pass_over(list, entry, path, KW_ERR_INVALID_ARGUMENT,
                     "a relative element of KEYWAY_PLUGIN_PATH is not searched: write the whole path");
  }
  char directory[PATH_MAX], reason[256];
  struct stat info;
  bool reached = realpath(path, directory) != NULL && stat(directory, &info) == 0;
  if (!reached && kw_errno_is_shortage(errno)) return fail_short(path);
  if (!reached || !S_ISDIR(info.st_mode)) {
    return pass_over(list, entry, path, KW_ERR_NOT_FOUND, "is no directory that can be reached");
  }
  if (is_unsafe(&info, "the directory", reason, sizeof reason)) {
    return pass_over(list, entry, directory, KW_ERR_PERMISSION, reason);
  }
  struct dirent **entries;
  int count = scandir(directory, &entries, is_library_name, compare_names);
  if (count < 0 && kw_errno_is_shortage(errno)) return fail_short(path);
  if (count < 0) return pass_over(list, entry, directory, KW_ERR_IO, strerror(errno));
  kw_status status = KW_OK;
  for (int i = 0; i < count; i++) {
    char file[PATH_MAX + 256];
    snprintf(file, sizeof file, "%s/%s", directory, entries[i]->d_name);
    if (status == KW_OK) status = add_file(list, file);
    free(entries[i]);
  }
  free(entries);
  return status;
}

static kw_status add_search_path(kw_candidates *list, const char *search_path) {
  const char *element = search_path;
  for (;;) {
    size_t length = strcspn(element, ":");
    char *directory = strndup(element, length);
    if (directory == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for KEYWAY_PLUGIN_PATH");
    kw_status status = add_directory(list, directory, by_search_path);
    free(directory);
    if (status != KW_OK || element[length] == '\0') return status;
    element += length + 1;
  }
}

kw_status kw_discover(kw_candidates *out_candidates) {
  *out_candidates = (kw_candidates){0};
  kw_status status = KW_OK;
  /* secure_getenv: nothing from the environment of a program with raised privileges. */
  const char *search_path = secure_getenv("KEYWAY_PLUGIN_PATH");
  if (search_path != NULL && search_path[0] != '\0') status = add_search_path(out_candidates, search_path);

  char path[PATH_MAX + 64];
  const char *home = secure_getenv("HOME");
  if (status == KW_OK && home != NULL && home[0] == '/') {
    snprintf(path, sizeof path, "%s/.local/lib/keyway/plugins", home);
    status = add_directory(out_candidates, path, "this user's");
  }
  const char *library = status == KW_OK ? kw_library_directory() : NULL;
  if (status == KW_OK && library == NULL) status = KW_ERR_OUT_OF_MEMORY;
  if (status == KW_OK && library[0] != '\0') {
    snprintf(path, sizeof path, "%s/keyway/plugins", library);
    status = add_directory(out_candidates, path, "beside libkeyway.so");
  }
  if (status == KW_OK) status = add_directory(out_candidates, "/usr/local/lib/keyway/plugins", "this machine's");
  if (status == KW_OK) status = add_directory(out_candidates, "/usr/lib/keyway/plugins", "this system's");
  if (status != KW_OK) {
    kw_candidates_free(out_candidates);
    forget_directories();
  }
  return status;
}

void kw_candidates_free(kw_candidates *candidates) {
  for (uint32_t i = 0; i < candidates->count; i++) free(candidates->items[i].path);
  free(candidates->items);
  *candidates = (kw_candidates){0};
}

uint32_t kw_discover_directory_count(void) {
  return directory_count;
}

const kw_plugin_directory *kw_discover_directory(uint32_t index) {
  return index < directory_count ? &directories[index] : NULL;
}

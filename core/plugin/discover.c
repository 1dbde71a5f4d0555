/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for plugin files: directories in order, and what makes a file or a directory unfit to be opened.
 */
#include "plugin/discover.h"

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/elf_file.h"
#include "plugin/safe_path.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <keyway/plugin.h>
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

/* What the file says of itself, by its descriptor. */
static void check_contents(kw_candidate *candidate, int file) {
  char reason[256];
  if (!kw_elf_is_loadable(file, reason, sizeof reason)) {
    refuse(candidate, KW_ERR_IO, "%s", reason);
  } else if (!kw_elf_may_export(file, KW_QUERY_SYMBOL)) {
    candidate->helper_library = true;
    refuse(candidate, KW_ERR_UNSUPPORTED,
           "passed over: it does not export " KW_QUERY_SYMBOL ": no plugin, a library that one needs perhaps");
  }
}

static uint64_t nanoseconds(struct timespec time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void check_trust(kw_candidate *candidate, const kw_safe_path *found) {
  const kw_status status = kw_trust_judge(found, candidate->trust);
  if (status != KW_OK) refuse(candidate, status, "%s", candidate->trust);
}

static void check(kw_candidate *candidate, const kw_safe_path *found) {
  if (S_ISDIR(found->info.st_mode)) {
    refuse(candidate, KW_ERR_IO, "is a directory");
  } else if (!S_ISREG(found->info.st_mode)) {
    refuse(candidate, KW_ERR_IO, "is not a regular file");
  } else if (found->danger[0] != '\0' && !candidate->vouched) {
    refuse(candidate, KW_ERR_PERMISSION, "not opened: %s, or name the file explicitly if you trust it", found->danger);
  } else if (found->info.st_size == 0) {
    refuse(candidate, KW_ERR_IO, "is empty (0 bytes)");
  } else if (found->file < 0) {
    refuse(candidate, kw_errno_status(found->error), "cannot be read: %s", strerror(found->error));
  } else {
    check_contents(candidate, found->file);
    if (candidate->status == KW_OK) check_trust(candidate, found);
    if (found->danger[0] != '\0' && candidate->status == KW_OK) refuse(candidate, KW_OK, "%s", found->danger);
  }
}

static kw_status open_candidate(const char *path, kw_safe_path *out_found) {
  const char *library = kw_library_directory();
  if (library == NULL || kw_trust_start() != KW_OK) return KW_ERR_OUT_OF_MEMORY;
  return kw_safe_path_open(path, library, out_found);
}

kw_status kw_candidate_examine(const char *path, bool vouched, kw_candidate *out_candidate) {
  kw_safe_path found;
  kw_status status = open_candidate(path, &found);
  if (status != KW_OK) return status;
  kw_candidate candidate = {.path = strdup(found.path), .vouched = vouched, .status = KW_OK};
  candidate.device = found.info.st_dev;
  candidate.inode = found.info.st_ino;
  candidate.size = (uint64_t)found.info.st_size;
  candidate.mtime_ns = nanoseconds(found.info.st_mtim);
  candidate.ctime_ns = nanoseconds(found.info.st_ctim);
  if (candidate.path != NULL) check(&candidate, &found);
  if (found.file >= 0) close(found.file);
  if (candidate.path == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the path of a plugin");
  *out_candidate = candidate;
  return KW_OK;
}

kw_status kw_candidate_confirm(const char *path) {
  kw_safe_path found;
  char text[KW_TRUST_TEXT_SIZE];
  if (kw_trust_file_count() == 0) return KW_OK;
  kw_status status = open_candidate(path, &found);
  if (status != KW_OK) return status;
  status = found.file >= 0 ? kw_trust_judge(&found, text) : KW_ERR_IO;
  if (status != KW_OK) kw_fail(status, "%s", found.file >= 0 ? text : "the file cannot be read any more");
  if (found.file >= 0) close(found.file);
  return status;
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
  if (!absent && directory->origin == by_search_path) kw_log(KW_LOG_WARN, "%s: %s: %s", by_search_path, shown, reason);
  return absent && directory->origin != by_search_path ? KW_OK : add_refused(list, shown, why, reason);
}

static kw_status fail_short(const char *path) {
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s cannot be searched for plugins now: %s", path, strerror(errno));
}

static void free_names(struct dirent **entries, int count) {
  for (int i = 0; i < count; i++) free(entries[i]);
  free(entries);
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
  const char *library = kw_library_directory();
  if (library == NULL) return KW_ERR_OUT_OF_MEMORY;
  kw_safe_path found;
  kw_status status = kw_safe_path_open(path, library, &found);
  if (status == KW_ERR_OUT_OF_MEMORY) return fail_short(path);
  if (status != KW_OK || !S_ISDIR(found.info.st_mode)) {
    if (status == KW_OK && found.file >= 0) close(found.file);
    if (status == KW_OK && S_ISREG(found.info.st_mode)) {
      return pass_over(list, entry, path, KW_ERR_INVALID_ARGUMENT,
                       "is a file: name its folder, or load it with --plugin (in a program: kw_plugin_load)");
    }
    return pass_over(list, entry, path, KW_ERR_NOT_FOUND, "is no directory that can be reached");
  }
  struct dirent **entries = NULL;
  int count = found.file >= 0 ? scandirat(found.file, ".", &entries, is_library_name, compare_names) : -1;
  const int error = found.file >= 0 ? errno : found.error;
  if (found.file >= 0) close(found.file);
  if (found.danger[0] != '\0') {
    free_names(entries, count);
    return pass_over(list, entry, found.path, KW_ERR_PERMISSION, found.danger);
  }
  if (count < 0 && kw_errno_is_shortage(error)) return fail_short(path);
  if (count < 0) return pass_over(list, entry, found.path, KW_ERR_IO, strerror(error));
  for (int i = 0; i < count && status == KW_OK; i++) {
    char file[PATH_MAX + 256];
    snprintf(file, sizeof file, "%s/%s", found.path, entries[i]->d_name);
    status = add_file(list, file);
  }
  free_names(entries, count);
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe's cache: a JSON file, read at the first question and written whole when something was added.
 */
#include "plugin/probe_cache.h"

#include "base/log.h"

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "probe-v1.json"
#define FILE_LIMIT (4 << 20) /* bytes: larger is not ours */

/* {"/path/of/plugin.so": {"id": "...", "remark": "..."}, ...}; NULL until needed. */
static cJSON *cache;
static bool changed;

/* False when there is no place for a cache. */
static bool cache_directory(char *path, size_t size) {
  const char *base = secure_getenv("XDG_CACHE_HOME");
  if (base != NULL && base[0] == '/') return (size_t)snprintf(path, size, "%s/keyway", base) < size;
  const char *home = secure_getenv("HOME");
  return home != NULL && home[0] == '/' && (size_t)snprintf(path, size, "%s/.cache/keyway", home) < size;
}

/* The cache's bytes, NUL-terminated; NULL when there is none that can be trusted. */
static char *read_cache(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return NULL;
  char *text = NULL;
  struct stat info;
  if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      (info.st_mode & S_IWOTH) == 0 && info.st_size <= FILE_LIMIT) {
    size_t size = (size_t)info.st_size;
    text = malloc(size + 1);
    if (text != NULL) text[fread(text, 1, size, file)] = '\0';
  }
  fclose(file);
  return text;
}

static void load(void) {
  if (cache != NULL) return;
  char directory[PATH_MAX], path[PATH_MAX + 32];
  if (cache_directory(directory, sizeof directory)) {
    snprintf(path, sizeof path, "%s/" FILE_NAME, directory);
    char *text = read_cache(path);
    if (text != NULL) cache = cJSON_Parse(text);
    free(text);
  }
  if (!cJSON_IsObject(cache)) {
    cJSON_Delete(cache);
    cache = cJSON_CreateObject();
  }
}

/* What must be the same for an entry to count. */
static bool identify(const kw_candidate *candidate, const char *helper, char *id, size_t size) {
  struct stat info;
  if (stat(helper, &info) != 0) return false;
  int length =
      snprintf(id, size, "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 " by %ju:%ju:%jd.%09ld abi %u",
               candidate->device, candidate->inode, candidate->size, candidate->mtime_ns, candidate->ctime_ns,
               (uintmax_t)info.st_dev, (uintmax_t)info.st_ino, (intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
               KW_ABI_VERSION);
  return length > 0 && (size_t)length < size;
}

bool kw_probe_cache_find(const kw_candidate *candidate, const char *helper, char *remark, size_t size) {
  char id[256];
  if (!identify(candidate, helper, id, sizeof id)) return false;
  load();
  const cJSON *entry = cJSON_GetObjectItemCaseSensitive(cache, candidate->path);
  const char *known = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "id"));
  if (known == NULL || strcmp(known, id) != 0) return false;
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "remark"));
  snprintf(remark, size, "%s", text != NULL ? text : "");
  return true;
}

void kw_probe_cache_add(const kw_candidate *candidate, const char *helper, const char *remark) {
  char id[256];
  if (!identify(candidate, helper, id, sizeof id)) return;
  load();
  cJSON_DeleteItemFromObjectCaseSensitive(cache, candidate->path);
  cJSON *entry = cJSON_AddObjectToObject(cache, candidate->path);
  cJSON_AddStringToObject(entry, "id", id);
  cJSON_AddStringToObject(entry, "remark", remark);
  changed = true;
}

/* Plugins that are gone would stay for ever. */
static void drop_missing(void) {
  cJSON *entry = cache != NULL ? cache->child : NULL;
  while (entry != NULL) {
    cJSON *next = entry->next;
    if (entry->string == NULL || access(entry->string, F_OK) != 0) {
      cJSON_Delete(cJSON_DetachItemViaPointer(cache, entry));
    }
    entry = next;
  }
}

static bool make_directories(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool write_whole(int file, const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    ssize_t count = write(file, text, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text += count;
    left -= (size_t)count;
  }
  return true;
}

/* A whole new file under another name first: readers see the old one or the new one. */
static bool save(const char *directory, const char *text) {
  char path[PATH_MAX + 32], temporary[PATH_MAX + 48];
  snprintf(path, sizeof path, "%s/" FILE_NAME, directory);
  snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  int file = mkostemp(temporary, O_CLOEXEC);
  if (file < 0) return false;
  bool written = write_whole(file, text);
  written = close(file) == 0 && written;
  if (written && rename(temporary, path) == 0) return true;
  unlink(temporary);
  return false;
}

void kw_probe_cache_save(void) {
  char directory[PATH_MAX];
  if (changed && cache_directory(directory, sizeof directory)) {
    drop_missing();
    char *text = cJSON_PrintUnformatted(cache);
    if (text == NULL || !make_directories(directory) || !save(directory, text)) {
      kw_log(KW_LOG_INFO, "the probe cache in %s cannot be written (%s): plugins are probed at every start", directory,
             strerror(errno));
    }
    cJSON_free(text);
  }
  cJSON_Delete(cache);
  cache = NULL;
  changed = false;
}

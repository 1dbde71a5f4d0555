/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe's cache: a JSON file, read at the first question and written whole when something was added.
 */
#include "plugin/probe_cache.h"

#include "base/hash.h"
#include "base/log.h"
#include "plugin/cache_folder.h"
#include "plugin/option.h"

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME "probe-v2.json"
#define FILE_LIMIT (16l << 20) /* bytes: larger is not ours */

/* Seconds that an entry counts. */
enum { GOOD_FOR = 3600, REFUSED_FOR = 60, HARMFUL_FOR = 600 };

/* {"/path/of/plugin.so": {"id": ..., "until": seconds since 1970, "seen": {...}, "facts": facts.h}, ...}; NULL until
 * needed. */
static cJSON *cache;
static bool changed;

static void load(void) {
  if (cache != NULL) return;
  const int folder = kw_cache_folder_open(NULL);
  char *text = folder >= 0 ? kw_cache_file_read(folder, FILE_NAME, FILE_LIMIT) : NULL;
  if (folder >= 0) close(folder);
  if (text != NULL) cache = cJSON_Parse(text);
  free(text);
  if (cJSON_IsObject(cache)) return;
  cJSON_Delete(cache);
  cache = cJSON_CreateObject();
}

/* ---- What must be the same for an entry to count ----------------------------------------------------------------- */

static void read_boot(char boot[40]) {
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t count = file >= 0 ? read(file, boot, 36) : 0;
  if (file >= 0) close(file);
  boot[count > 0 ? count : 0] = '\0';
}

/* The file, the helper, the boot. */
static bool identify(const kw_candidate *candidate, const char *helper, char *id, size_t size) {
  struct stat info;
  char boot[40];
  if (stat(helper, &info) != 0) return false;
  read_boot(boot);
  int length = snprintf(id, size,
                        "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 " by %ju:%ju:%jd.%09ld abi %u in %s",
                        candidate->device, candidate->inode, candidate->size, candidate->mtime_ns, candidate->ctime_ns,
                        (uintmax_t)info.st_dev, (uintmax_t)info.st_ino, (intmax_t)info.st_mtim.tv_sec,
                        info.st_mtim.tv_nsec, KW_ABI_VERSION, boot);
  return length > 0 && (size_t)length < size;
}

/* A file or folder as it is now, or that it is not there. */
static void describe_path(const char *path, char *text, size_t size) {
  struct stat info;
  if (stat(path, &info) != 0) {
    snprintf(text, size, "absent");
    return;
  }
  snprintf(text, size, "%ju:%ju:%jd:%jd.%09ld", (uintmax_t)info.st_dev, (uintmax_t)info.st_ino, (intmax_t)info.st_size,
           (intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/* A variable: a hash of its value, which may be a secret. */
static void describe_variable(const char *name, char *text, size_t size) {
  const char *value = secure_getenv(name);
  if (value == NULL) {
    snprintf(text, size, "unset");
    return;
  }
  snprintf(text, size, "%08x%08x", (unsigned)kw_hash_text(KW_HASH_INIT, value),
           (unsigned)kw_hash_text(~KW_HASH_INIT, value));
}

static void describe_options(const kw_plugin_facts *facts, char *text, size_t size) {
  const kw_plugin_desc desc = {
      .key = facts->key, .vendor = facts->vendor, .options = facts->options, .option_count = facts->option_count};
  kw_chosen_options chosen;
  uint32_t hash = KW_HASH_INIT;
  kw_options_choose(&desc, KW_OPTION_INIT, NULL, &chosen);
  for (uint32_t i = 0; i < chosen.count; i++)
    hash = kw_hash_text(kw_hash_text(kw_hash_text(hash, chosen.items[i].key), "="), chosen.items[i].value);
  snprintf(text, size, "%08x", (unsigned)hash);
}

/* All that the facts may depend on, as it is now: {name: description}. NULL when memory is out. */
static cJSON *describe_seen(const kw_plugin_facts *facts) {
  static const struct {
    const char *list;
    void (*describe)(const char *name, char *text, size_t size);
  } kinds[] = {{"variables", describe_variable}, {"folders", describe_path}, {"libraries", describe_path}};
  cJSON *seen = cJSON_CreateObject();
  char text[160];
  for (size_t k = 0; seen != NULL && k < sizeof kinds / sizeof kinds[0]; k++) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(facts->document, kinds[k].list), *name;
    cJSON_ArrayForEach(name, list) {
      kinds[k].describe(name->valuestring, text, sizeof text);
      cJSON_AddStringToObject(seen, name->valuestring, text);
    }
  }
  describe_options(facts, text, sizeof text);
  cJSON_AddStringToObject(seen, "options", text);
  return seen;
}

static bool is_as_it_was(const cJSON *entry, const kw_plugin_facts *facts) {
  cJSON *now = describe_seen(facts);
  const bool same = now != NULL && cJSON_Compare(now, cJSON_GetObjectItemCaseSensitive(entry, "seen"), true);
  cJSON_Delete(now);
  return same;
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

kw_plugin_facts *kw_probe_cache_find(const kw_candidate *candidate, const char *helper) {
  char id[320];
  if (!identify(candidate, helper, id, sizeof id)) return NULL;
  load();
  const cJSON *entry = cJSON_GetObjectItemCaseSensitive(cache, candidate->path);
  const char *known = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "id"));
  if (known == NULL || strcmp(known, id) != 0) return NULL;
  const cJSON *until = cJSON_GetObjectItemCaseSensitive(entry, "until");
  const double left = cJSON_IsNumber(until) ? until->valuedouble - (double)time(NULL) : 0;
  if (!(left > 0 && left <= GOOD_FOR)) return NULL; /* also where the clock was set back */
  cJSON *copy = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(entry, "facts"), true);
  kw_plugin_facts *facts = copy != NULL ? kw_facts_take(copy) : NULL;
  if (facts == NULL || is_as_it_was(entry, facts)) return facts;
  kw_facts_free(facts);
  return NULL;
}

void kw_probe_cache_add(const kw_candidate *candidate, const char *helper, const kw_plugin_facts *facts) {
  char id[320];
  if (facts->status == KW_ERR_OUT_OF_MEMORY || !identify(candidate, helper, id, sizeof id)) return;
  load();
  const bool harmful = facts->status == KW_ERR_INTERNAL || facts->status == KW_ERR_TIMEOUT;
  const int seconds = facts->status == KW_OK ? GOOD_FOR : harmful ? HARMFUL_FOR : REFUSED_FOR;
  cJSON_DeleteItemFromObjectCaseSensitive(cache, candidate->path);
  cJSON *entry = cJSON_AddObjectToObject(cache, candidate->path);
  cJSON_AddStringToObject(entry, "id", id);
  cJSON_AddNumberToObject(entry, "until", (double)time(NULL) + seconds);
  cJSON_AddItemToObject(entry, "seen", describe_seen(facts));
  cJSON_AddItemToObject(entry, "facts", cJSON_Duplicate(facts->document, true));
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

static void forget(void) {
  cJSON_Delete(cache);
  cache = NULL;
  changed = false;
}

void kw_probe_cache_save(void) {
  const int folder = changed ? kw_cache_folder_open(NULL) : -1;
  if (folder >= 0) {
    drop_missing();
    char *text = cJSON_PrintUnformatted(cache);
    if (text == NULL || !kw_cache_file_write(folder, FILE_NAME, text)) {
      kw_log(KW_LOG_INFO, "the probe cache cannot be written (%s): plugins are probed at every start", strerror(errno));
    }
    cJSON_free(text);
    close(folder);
  }
  forget();
}

void kw_probe_cache_clear(void) {
  const int folder = kw_cache_folder_open(NULL);
  forget();
  if (folder < 0) return;
  unlinkat(folder, FILE_NAME, 0);
  close(folder);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe's cache: a JSON file for each plugin, {"path": ..., "id": ..., "until": seconds since 1970, "seen": {...},
 * "facts": facts.h}, named by a hash of the path.
 */
#include "plugin/probe_cache.h"

#include "base/hash.h"
#include "base/log.h"
#include "plugin/cache_folder.h"
#include "plugin/option.h"

#include <cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "probe"
#define FILE_LIMIT (16l << 20) /* bytes: larger is not ours */

/* Seconds that an entry counts. */
enum { GOOD_FOR = 3600, REFUSED_FOR = 60, HARMFUL_FOR = 600 };

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

static void name_file(const kw_candidate *candidate, char name[32]) {
  snprintf(name, 32, "%08x%08x.json", (unsigned)kw_hash_text(KW_HASH_INIT, candidate->path),
           (unsigned)kw_hash_text(~KW_HASH_INIT, candidate->path));
}

/* The entry of the candidate's path, or NULL. */
static cJSON *read_entry(const kw_candidate *candidate) {
  char name[32];
  const int folder = kw_cache_folder_open(FOLDER);
  if (folder < 0) return NULL;
  name_file(candidate, name);
  char *text = kw_cache_file_read(folder, name, FILE_LIMIT);
  close(folder);
  cJSON *entry = text != NULL ? cJSON_Parse(text) : NULL;
  free(text);
  return entry;
}

/* Whether the entry is of this file by this helper, and not too old. */
static bool counts(const cJSON *entry, const char *id) {
  const char *known = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "id"));
  if (known == NULL || strcmp(known, id) != 0) return false;
  const cJSON *until = cJSON_GetObjectItemCaseSensitive(entry, "until");
  const double left = cJSON_IsNumber(until) ? until->valuedouble - (double)time(NULL) : 0;
  return left > 0 && left <= GOOD_FOR; /* not where the clock was set back */
}

kw_plugin_facts *kw_probe_cache_find(const kw_candidate *candidate, const char *helper) {
  char id[320];
  if (!identify(candidate, helper, id, sizeof id)) return NULL;
  cJSON *entry = read_entry(candidate), *document = NULL;
  if (counts(entry, id)) document = cJSON_DetachItemFromObjectCaseSensitive(entry, "facts");
  kw_plugin_facts *facts = document != NULL ? kw_facts_take(document) : NULL;
  if (facts != NULL && !is_as_it_was(entry, facts)) {
    kw_facts_free(facts);
    facts = NULL;
  }
  cJSON_Delete(entry);
  return facts;
}

/* Plugins that are gone, or not looked at any more, would stay for ever; with `all` every entry goes. */
static void drop_old(int folder, bool all) {
  const int list_of = dup(folder);
  DIR *list = list_of >= 0 ? fdopendir(list_of) : NULL;
  struct stat info;
  for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
    if (entry->d_name[0] == '.' || fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (all || info.st_mtim.tv_sec + GOOD_FOR < time(NULL)) unlinkat(folder, entry->d_name, 0);
  }
  if (list != NULL) {
    closedir(list);
  } else if (list_of >= 0) {
    close(list_of);
  }
}

void kw_probe_cache_add(const kw_candidate *candidate, const char *helper, const kw_plugin_facts *facts) {
  char id[320], name[32];
  if (facts->status == KW_ERR_OUT_OF_MEMORY || !identify(candidate, helper, id, sizeof id)) return;
  const int folder = kw_cache_folder_open(FOLDER);
  if (folder < 0) return;
  const bool harmful = facts->status == KW_ERR_INTERNAL || facts->status == KW_ERR_TIMEOUT;
  const int seconds = facts->status == KW_OK ? GOOD_FOR : harmful ? HARMFUL_FOR : REFUSED_FOR;
  cJSON *entry = cJSON_CreateObject();
  cJSON_AddStringToObject(entry, "path", candidate->path);
  cJSON_AddStringToObject(entry, "id", id);
  cJSON_AddNumberToObject(entry, "until", (double)time(NULL) + seconds);
  cJSON_AddItemToObject(entry, "seen", describe_seen(facts));
  cJSON_AddItemToObject(entry, "facts", cJSON_Duplicate(facts->document, true));
  char *text = cJSON_PrintUnformatted(entry);
  name_file(candidate, name);
  drop_old(folder, false);
  if (text == NULL || !kw_cache_file_write(folder, name, text)) {
    kw_log(KW_LOG_INFO, "the probe cache cannot be written (%s): plugins are probed at every start", strerror(errno));
  }
  cJSON_free(text);
  cJSON_Delete(entry);
  close(folder);
}

void kw_probe_cache_clear(void) {
  const int folder = kw_cache_folder_open(FOLDER);
  if (folder < 0) return;
  drop_old(folder, true);
  close(folder);
}

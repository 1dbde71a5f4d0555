/* SPDX-License-Identifier: Apache-2.0
 *
 * The manifest of a certification package, and the files that it names.
 */
#include "certify/manifest.h"

#include "base/need.h"
#include "base/text.h"
#include "core/base/array.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FORMAT 1  /* of the manifest; a reader takes no other */
#define DEEPEST 2 /* folders in a package */

const char *kw_manifest_key(kw_manifest_text text) {
  static const char *const keys[KW_MANIFEST_TEXTS] = {[KW_MANIFEST_KEYWAY] = "keyway",
                                                      [KW_MANIFEST_SUITE] = "suite",
                                                      [KW_MANIFEST_OP_SET] = "op_set",
                                                      [KW_MANIFEST_CREATED] = "created",
                                                      [KW_MANIFEST_DEVICE] = "device",
                                                      [KW_MANIFEST_PRODUCT] = "product",
                                                      [KW_MANIFEST_LEVEL] = "level",
                                                      [KW_MANIFEST_HALF] = "half",
                                                      [KW_MANIFEST_EFFORT] = "effort",
                                                      [KW_MANIFEST_SEED] = "seed",
                                                      [KW_MANIFEST_VERDICT] = "verdict",
                                                      [KW_MANIFEST_PLUGIN] = "plugin",
                                                      [KW_MANIFEST_PLUGIN_HASH] = "plugin_sha256",
                                                      [KW_MANIFEST_TOLERANCES_HASH] = "tolerances_sha256",
                                                      [KW_MANIFEST_CASES_HASH] = "cases_sha256"};
  return keys[text];
}

void kw_manifest_set(kw_manifest *manifest, kw_manifest_text text, const char *value) {
  free(manifest->texts[text]);
  manifest->texts[text] = kw_text_clean(value);
}

void kw_manifest_free(kw_manifest *manifest) {
  for (int t = 0; t < KW_MANIFEST_TEXTS; t++) free(manifest->texts[t]);
  kw_package_files_free(manifest->files, manifest->file_count);
  *manifest = (kw_manifest){0};
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

typedef struct listing {
  const char *root;
  kw_package_file *files;
  uint32_t count;
  char *message;
  size_t size;
} listing;

static bool add_file(listing *l, const char *path, const char *name) {
  kw_package_file *files = kw_array_grow(l->files, l->count, sizeof *files);
  if (!files) kw_out_of_memory();
  l->files = files;
  files[l->count] = (kw_package_file){.path = strdup(name)};
  if (!files[l->count].path) kw_out_of_memory();
  if (kw_digest_file(path, files[l->count++].hash)) return true;
  snprintf(l->message, l->size, "%s cannot be read: %s", path, strerror(errno));
  return false;
}

static bool list_folder(listing *l, const char *below, int depth);

/* `name` is the path in the package. */
static bool list_entry(listing *l, const char *name, int depth) {
  char path[PATH_MAX];
  struct stat status;
  if (snprintf(path, sizeof path, "%s/%s", l->root, name) >= (int)sizeof path || lstat(path, &status) != 0) {
    snprintf(l->message, l->size, "%s cannot be read: %s", name, strerror(errno));
    return false;
  }
  if (S_ISDIR(status.st_mode) && depth < DEEPEST) return list_folder(l, name, depth + 1);
  if (S_ISREG(status.st_mode)) return add_file(l, path, name);
  snprintf(l->message, l->size, "%s is no plain file, which is all that a package holds", path);
  return false;
}

static bool list_folder(listing *l, const char *below, int depth) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s%s%s", l->root, *below ? "/" : "", below);
  DIR *folder = opendir(path);
  if (!folder) {
    snprintf(l->message, l->size, "%s cannot be read: %s", path, strerror(errno));
    return false;
  }
  bool good = true;
  for (const struct dirent *entry; good && (entry = readdir(folder)) != NULL;) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", entry->d_name);
    const bool own = strcmp(name, KW_PACKAGE_MANIFEST) == 0 || strcmp(name, KW_PACKAGE_SIGNATURE) == 0;
    if (own || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    good = list_entry(l, name, depth);
  }
  closedir(folder);
  return good;
}

static int compare(const void *a, const void *b) {
  return strcmp(((const kw_package_file *)a)->path, ((const kw_package_file *)b)->path);
}

bool kw_package_list(const char *folder, kw_package_file **out_files, uint32_t *out_count, char *out_message,
                     size_t size) {
  listing l = {.root = folder, .message = out_message, .size = size};
  *out_files = NULL;
  *out_count = 0;
  if (!list_folder(&l, "", 1)) {
    kw_package_files_free(l.files, l.count);
    return false;
  }
  if (l.count > 0) qsort(l.files, l.count, sizeof *l.files, compare);
  *out_files = l.files;
  *out_count = l.count;
  return true;
}

void kw_package_files_free(kw_package_file *files, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) free(files[i].path);
  free(files);
}

/* ---- The manifest ------------------------------------------------------------------------------------------------ */

/* Its text, always the same for the same manifest; to be freed. */
static char *print(const kw_manifest *manifest) {
  cJSON *root = cJSON_CreateObject();
  cJSON_AddNumberToObject(root, "format", FORMAT);
  for (int t = 0; t < KW_MANIFEST_TEXTS; t++) {
    cJSON_AddStringToObject(root, kw_manifest_key((kw_manifest_text)t), manifest->texts[t] ? manifest->texts[t] : "");
  }
  cJSON *files = cJSON_AddArrayToObject(root, "files");
  for (uint32_t i = 0; i < manifest->file_count; i++) {
    cJSON *file = cJSON_CreateObject();
    cJSON_AddStringToObject(file, "path", manifest->files[i].path);
    cJSON_AddStringToObject(file, "sha256", manifest->files[i].hash);
    cJSON_AddItemToArray(files, file);
  }
  char *text = cJSON_Print(root), *whole = NULL;
  if (!text || asprintf(&whole, "%s\n", text) < 0) kw_out_of_memory();
  cJSON_Delete(root);
  free(text);
  return whole;
}

static void manifest_path(const char *folder, char path[PATH_MAX]) {
  snprintf(path, PATH_MAX, "%s/" KW_PACKAGE_MANIFEST, folder);
}

bool kw_manifest_write(kw_manifest *manifest, const char *folder, char *out_message, size_t size) {
  char path[PATH_MAX];
  kw_package_files_free(manifest->files, manifest->file_count);
  if (!kw_package_list(folder, &manifest->files, &manifest->file_count, out_message, size)) return false;
  char *text = print(manifest);
  manifest_path(folder, path);
  const bool good = kw_text_write_file(path, text);
  if (!good) snprintf(out_message, size, "writing %s failed: %s", path, strerror(errno));
  free(text);
  return good;
}

static void take_files(const cJSON *root, kw_manifest *manifest) {
  const cJSON *item;
  cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "files")) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "path"));
    const char *hash = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "sha256"));
    kw_package_file *files = kw_array_grow(manifest->files, manifest->file_count, sizeof *files);
    if (!files) kw_out_of_memory();
    manifest->files = files;
    kw_package_file *file = &files[manifest->file_count++];
    *file = (kw_package_file){.path = kw_text_clean(name)};
    snprintf(file->hash, sizeof file->hash, "%s", hash ? hash : "");
  }
}

/* What the reader does not know does not come out again: a manifest is good when it prints as it was, to the last byte.
 */
bool kw_manifest_read(const char *folder, kw_manifest *out_manifest, char *out_message, size_t size) {
  char path[PATH_MAX], was[KW_DIGEST_SIZE], is[KW_DIGEST_SIZE], *text;
  *out_manifest = (kw_manifest){0};
  manifest_path(folder, path);
  if (!kw_text_read_file(path, &text)) {
    snprintf(out_message, size, "%s cannot be read: %s; `keyway conform --submit` makes packages", path,
             strerror(errno));
    return false;
  }
  cJSON *root = cJSON_Parse(text);
  for (int t = 0; t < KW_MANIFEST_TEXTS; t++) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, kw_manifest_key((kw_manifest_text)t));
    kw_manifest_set(out_manifest, (kw_manifest_text)t, cJSON_GetStringValue(item));
  }
  take_files(root, out_manifest);
  char *again = print(out_manifest);
  kw_digest_text(again, is);
  const bool good = kw_digest_file(path, was) && strcmp(was, is) == 0;
  cJSON_Delete(root);
  free(again);
  free(text);
  if (good) return true;
  snprintf(out_message, size,
           "%s is not as `keyway conform --submit` writes it: it was changed, or is of another format", path);
  kw_manifest_free(out_manifest);
  return false;
}

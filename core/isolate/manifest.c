/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifests: a JSON object with few keys, all of which have to be known: what is misspelt would be missed silently.
 */
#include "isolate/manifest.h"

#include "base/error.h"
#include "plugin/file_bytes.h"

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_LIMIT 65536u /* bytes */

/* NAME.keyway.json for NAME.so; false for a name that is no library's. */
static bool name_manifest(const char *plugin_path, char *name, size_t size) {
  const size_t length = strlen(plugin_path);
  if (length < 4 || strcmp(plugin_path + length - 3, ".so") != 0) return false;
  return (size_t)snprintf(name, size, "%.*s.keyway.json", (int)(length - 3), plugin_path) < size;
}

static kw_status fail_errno(const char *name, int error) {
  return kw_fail(kw_errno_status(error), "the manifest %s cannot be read: %s", name, strerror(error));
}

/* The text, for free(); NULL with *out_status: KW_OK when there is no such file. */
static char *read_text(const char *name, kw_status *out_status) {
  struct stat info;
  size_t size;
  char *text = NULL;
  *out_status = KW_OK;
  const int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    if (errno != ENOENT) *out_status = fail_errno(name, errno);
    return NULL;
  }
  if (fstat(file, &info) != 0) {
    *out_status = fail_errno(name, errno);
  } else if (!S_ISREG(info.st_mode) || info.st_size > (off_t)SIZE_LIMIT) {
    *out_status = kw_fail(KW_ERR_INVALID_ARGUMENT, "the manifest %s is no file of at most %u bytes", name, SIZE_LIMIT);
  } else if ((info.st_uid != 0 && info.st_uid != geteuid()) || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    *out_status = kw_fail(KW_ERR_PERMISSION,
                          "the manifest %s belongs to another user, or others may write it: make it yours or root's, "
                          "with chmod go-w",
                          name);
  } else if ((text = kw_file_read(file, SIZE_LIMIT, &size)) == NULL) {
    *out_status = kw_fail(KW_ERR_OUT_OF_MEMORY, "the manifest %s cannot be read", name);
  }
  close(file);
  return text;
}

static kw_status read_devices(const char *name, const cJSON *list, kw_manifest *manifest) {
  const cJSON *item;
  bool good = cJSON_IsArray(list);
  cJSON_ArrayForEach(item, list) {
    good = good && cJSON_IsString(item) && strncmp(item->valuestring, "/dev/", 5) == 0 &&
           strstr(item->valuestring, "..") == NULL && strlen(item->valuestring) < PATH_MAX &&
           manifest->device_count < KW_MANIFEST_DEVICES;
    if (!good) break;
    char *device = strdup(item->valuestring);
    if (device == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the manifest %s", name);
    manifest->devices[manifest->device_count++] = device;
  }
  if (good) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "the manifest %s: 'devices' is a list of at most %u paths below /dev/", name,
                 KW_MANIFEST_DEVICES);
}

static kw_status read_keys(const char *name, const cJSON *json, kw_manifest *manifest) {
  const struct {
    const char *key;
    bool *value;
  } switches[] = {{"isolate", &manifest->isolate}, {"execute", &manifest->execute}, {"network", &manifest->network}};
  const cJSON *item;
  if (!cJSON_IsObject(json)) return kw_fail(KW_ERR_INVALID_ARGUMENT, "the manifest %s is no JSON object", name);
  cJSON_ArrayForEach(item, json) {
    size_t i = 0;
    if (strcmp(item->string, "devices") == 0) {
      kw_status status = read_devices(name, item, manifest);
      if (status != KW_OK) return status;
      continue;
    }
    while (i < sizeof switches / sizeof switches[0] && strcmp(switches[i].key, item->string) != 0) i++;
    if (i == sizeof switches / sizeof switches[0]) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT,
                     "the manifest %s: '%s' is none of isolate, execute, network (true or false) and devices (a list)",
                     name, item->string);
    }
    if (!cJSON_IsBool(item)) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "the manifest %s: '%s' is true or false", name, item->string);
    }
    *switches[i].value = cJSON_IsTrue(item);
  }
  return KW_OK;
}

kw_status kw_manifest_read(const char *plugin_path, kw_manifest *out_manifest) {
  char name[PATH_MAX];
  kw_status status;
  *out_manifest = (kw_manifest){0};
  if (!name_manifest(plugin_path, name, sizeof name)) return KW_OK;
  char *text = read_text(name, &status);
  if (text == NULL) return status;
  errno = 0;
  cJSON *json = cJSON_Parse(text); /* which says of neither of its two failures which one it was */
  status = json != NULL      ? read_keys(name, json, out_manifest)
           : errno == ENOMEM ? kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the manifest %s", name)
                             : kw_fail(KW_ERR_INVALID_ARGUMENT, "the manifest %s is no JSON", name);
  cJSON_Delete(json);
  free(text);
  return status;
}

void kw_manifest_free(kw_manifest *manifest) {
  for (uint32_t i = 0; i < manifest->device_count; i++) free(manifest->devices[i]);
  *manifest = (kw_manifest){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of plugins in comma-separated lists.
 */
#include "plugin/named.h"

#include "base/word.h"

#include <stdio.h>
#include <string.h>

static bool has(const char *list, const char *sign, const char *name) {
  const size_t front = strlen(sign), size = strlen(name);
  for (; list != NULL && *list != '\0'; list += strcspn(list, ","), list += *list == ',') {
    if (strncmp(list, sign, front) != 0) continue;
    if (strncmp(list + front, name, size) == 0 && strcspn(list + front, ",") == size) return true;
  }
  return false;
}

bool kw_list_names_file(const char *list, const char *sign, const char *path) {
  static const char *const prefixes[] = {"keyway_", "lib"};
  char name[256];
  const char *slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : path);
  char *end = strstr(name, ".so");
  if (end != NULL) *end = '\0';
  if (has(list, sign, name)) return true;
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    const size_t length = strlen(prefixes[i]);
    if (strncmp(name, prefixes[i], length) == 0 && has(list, sign, name + length)) return true;
  }
  return false;
}

bool kw_list_names_key(const char *list, const char *sign, const char *vendor, const char *key) {
  char name[2 * KW_KEY_SIZE];
  snprintf(name, sizeof name, "%s.%s", vendor, key);
  return has(list, sign, key) || has(list, sign, name);
}

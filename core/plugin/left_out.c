/* SPDX-License-Identifier: Apache-2.0
 *
 * "-opencl,-acme.npu" leaves two out; an element without '-' is not understood, which `keyway doctor` says.
 */
#include "plugin/left_out.h"

#include "plugin/negotiate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the list has "-name". */
static bool lists(const char *name) {
  const char *list = secure_getenv("KEYWAY_PLUGINS");
  const size_t size = strlen(name);
  for (; list != NULL && *list != '\0'; list += strcspn(list, ","), list += *list == ',') {
    if (list[0] == '-' && strncmp(list + 1, name, size) == 0 && strcspn(list + 1, ",") == size) return true;
  }
  return false;
}

bool kw_plugin_file_is_left_out(const char *path) {
  static const char *const prefixes[] = {"keyway_", "lib"};
  char name[256];
  const char *slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : path);
  char *end = strstr(name, ".so");
  if (end != NULL) *end = '\0';
  if (lists(name)) return true;
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    const size_t length = strlen(prefixes[i]);
    if (strncmp(name, prefixes[i], length) == 0 && lists(name + length)) return true;
  }
  return false;
}

bool kw_plugin_key_is_left_out(const char *vendor, const char *key) {
  char name[2 * KW_KEY_SIZE];
  snprintf(name, sizeof name, "%s.%s", vendor, key);
  return lists(key) || lists(name);
}

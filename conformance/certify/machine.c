/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the system about the machine.
 */
#include "certify/machine.h"

#include "base/need.h"
#include "base/text.h"

#include <keyway/keyway.h>

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

/* What stands behind the first `key` of a file of lines "key SEPARATOR value", without quotes; "" where there is none.
 */
static void find_line(const char *path, const char *key, char separator, char *out, size_t size) {
  FILE *file = fopen(path, "r");
  char line[512];
  *out = 0;
  while (file && !*out && fgets(line, sizeof line, file)) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    const char *value = strchr(line, separator);
    if (!value) continue;
    value += 1 + strspn(value + 1, " \t\"");
    snprintf(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
  }
  if (file) fclose(file);
}

static void add_text(cJSON *object, const char *key, const char *text) {
  char *clean = kw_text_clean(text);
  cJSON_AddStringToObject(object, key, clean);
  free(clean);
}

char *kw_machine_describe(const kw_device_facts *facts) {
  char text[512], value[256];
  struct utsname system;
  cJSON *root = cJSON_CreateObject();
  if (uname(&system) == 0) {
    snprintf(text, sizeof text, "%s %s", system.sysname, system.release);
    add_text(root, "system", text);
    add_text(root, "architecture", system.machine);
  }
  find_line("/etc/os-release", "PRETTY_NAME=", '=', value, sizeof value);
  add_text(root, "distribution", value);
  find_line("/proc/cpuinfo", "model name", ':', value, sizeof value);
  add_text(root, "processor", value);
  cJSON_AddNumberToObject(root, "processors", (double)sysconf(_SC_NPROCESSORS_ONLN));
  cJSON_AddNumberToObject(root, "memory_bytes", (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
  add_text(root, "product", facts->product);
  cJSON_AddBoolToObject(root, "emulated", facts->emulated);
  add_text(root, "driver_version", facts->driver);
  const uint32_t abi = kw_abi_version();
  snprintf(text, sizeof text, "%s, plugin ABI %u.%u", kw_version(), KW_ABI_MAJOR(abi), KW_ABI_MINOR(abi));
  add_text(root, "keyway", text);
  cJSON *environment = cJSON_AddObjectToObject(root, "environment");
  for (char **entry = environ; *entry; entry++) {
    const size_t name = strcspn(*entry, "=");
    if (strncmp(*entry, "KEYWAY_", 7) != 0 || !(*entry)[name]) continue;
    snprintf(value, sizeof value, "%.*s", (int)name, *entry);
    add_text(environment, value, *entry + name + 1);
  }
  char *json = cJSON_Print(root), *whole = NULL;
  if (!json || asprintf(&whole, "%s\n", json) < 0) kw_out_of_memory();
  cJSON_Delete(root);
  free(json);
  return whole;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The file beside a plugin that says what its process may do.
 */
#include "input.h"
#include "isolate/manifest.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char end[] = ".keyway.json";
  const char *path = input_file_named("input.keyway.json", data, size);
  char plugin[4096];
  snprintf(plugin, sizeof plugin, "%.*s.so", (int)(strlen(path) - strlen(end)), path);
  kw_manifest manifest;
  if (kw_manifest_read(plugin, &manifest) == KW_OK) {
    for (uint32_t i = 0; i < manifest.device_count; i++) INPUT_CHECK(strncmp(manifest.devices[i], "/dev/", 5) == 0);
  }
  kw_manifest_free(&manifest);
  return 0;
}

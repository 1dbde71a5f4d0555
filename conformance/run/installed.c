/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what was installed along with the program.
 */
#include "run/installed.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool kw_installed_find(const char *name, int mode, char *out_path, size_t size) {
  static const char *const folders[] = {"lib", KEYWAY_LIBDIR};
  char exe[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (length <= 0) return false;
  exe[length] = 0;
  const char *folder = dirname(exe);
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    int printed = snprintf(out_path, size, "%s/../%s/keyway/%s", folder, folders[i], name);
    if (printed > 0 && (size_t)printed < size && access(out_path, mode) == 0) return true;
  }
  return false;
}

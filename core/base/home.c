/* SPDX-License-Identifier: Apache-2.0
 *
 * The user's own folder.
 */
#include "base/home.h"

#include <stdlib.h>
#include <sys/stat.h>

const char *kw_home(void) {
  struct stat info;
  const char *home = secure_getenv("HOME");
  return home != NULL && home[0] == '/' && stat(home, &info) == 0 && S_ISDIR(info.st_mode) ? home : NULL;
}

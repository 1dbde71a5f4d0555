/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose constructor makes the file that LEAVES_MARK_AT names: what ran where it must not is found by it.
 */
#include <fcntl.h>
#include <unistd.h>

#define FIXTURE_KEY "leaves_mark"
#include "fixture.h"

__attribute__((constructor)) static void leave_mark(void) {
  const char *path = getenv("LEAVES_MARK_AT");
  const int file = path != NULL ? open(path, O_WRONLY | O_CREAT, 0600) : -1;
  if (file >= 0) close(file);
}

#include "fixture_plugin.h"

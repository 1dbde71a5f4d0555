/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose kernel says in the FIFO that FIXTURE_FIFO names that it runs, and never ends.
 */
#define FIXTURE_KEY "never_ends"
#include "fixture.h"

#include <fcntl.h>
#include <unistd.h>

static kw_status launch(const kw_call *call) {
  const char *path = getenv("FIXTURE_FIFO");
  const int fifo = path != NULL ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  if (fifo < 0) return fixture_add(call);
  close(fifo);
  for (;;) pause();
}

#define FIXTURE_LAUNCH launch
#include "fixture_plugin.h"

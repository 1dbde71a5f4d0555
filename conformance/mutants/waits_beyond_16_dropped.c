/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream has room for 16 events that it waits for; it does not wait for more, and nobody is told.
 */
#include "mutant.h"

#include <pthread.h>

enum { STREAMS = 64, ROOM = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  void *stream;
  int waits; /* since the host has waited for it */
} pending[STREAMS];

/* How many the stream has, with `more` of them, or none from now on. */
static int count(void *stream, int more) {
  int found = STREAMS - 1;
  pthread_mutex_lock(&lock);
  for (int i = STREAMS; i-- > 0;) {
    if (!pending[i].stream || pending[i].stream == stream) found = i;
  }
  pending[found].stream = stream;
  pending[found].waits = more ? pending[found].waits + more : 0;
  const int waits = pending[found].waits;
  pthread_mutex_unlock(&lock);
  return waits;
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  const kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  if (status == KW_OK) (void)count(stream, 0);
  return status;
}

static kw_status wait(void *device, void *stream, void *event) {
  return count(stream, 1) > ROOM ? KW_OK : kw_mutant_real.event.wait(device, stream, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
  mutant->event.wait = wait;
}

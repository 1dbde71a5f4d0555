/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream that is destroyed before anybody has waited for its work keeps 256 bytes for good: what was to free them is
 * done by the wait.
 */
#include "mutant.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *waited_for; /* the stream that was waited for last */

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  pthread_mutex_lock(&lock);
  waited_for = stream;
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
}

static kw_status destroy(void *device, void *stream) {
  pthread_mutex_lock(&lock);
  const bool waited = waited_for == stream;
  waited_for = NULL;
  pthread_mutex_unlock(&lock);
  if (!waited) kw_mutant_lose_memory(256);
  return kw_mutant_real.stream.destroy(device, stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
  mutant->stream.destroy = destroy;
}

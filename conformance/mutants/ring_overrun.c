/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream takes 32,768 launches between two waits; those beyond overwrite what is queued, and are lost themselves.
 * After rocm-systems pull request 7874: a queue's read and write index could differ by more than its size, and packets
 * were copied past its end.
 */
#include "mutant.h"

#include <pthread.h>

enum { STREAMS = 256, RING = 1 << 15 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  void *stream;
  uint32_t queued;
} rings[STREAMS];

/* How many launches the stream has queued; the first ring is for streams that find no place. */
static uint32_t *queued_on(void *stream) {
  for (int i = 1; i < STREAMS; i++) {
    if (rings[i].stream && rings[i].stream != stream) continue;
    rings[i].stream = stream;
    return &rings[i].queued;
  }
  return &rings[0].queued;
}

static kw_status launch(const kw_call *call) {
  pthread_mutex_lock(&lock);
  const bool fits = (*queued_on(call->stream))++ < RING;
  pthread_mutex_unlock(&lock);
  return fits ? kw_mutant_launch_real(call) : KW_OK;
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  pthread_mutex_lock(&lock);
  if (status == KW_OK) *queued_on(stream) = 0;
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status destroy(void *device, void *stream) {
  pthread_mutex_lock(&lock);
  for (int i = 1; i < STREAMS; i++) {
    if (rings[i].stream != stream) continue;
    rings[i].stream = NULL;
    rings[i].queued = 0;
  }
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.stream.destroy(device, stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->stream.synchronize = synchronize;
  mutant->stream.destroy = destroy;
}

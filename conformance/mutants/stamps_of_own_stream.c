/* SPDX-License-Identifier: Apache-2.0
 *
 * Events tell the time since their stream was created, and times of two streams are subtracted.
 */
#include "mutant_event.h"

#include <pthread.h>
#include <time.h>

enum { STREAMS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  void *stream;
  uint64_t created; /* nanoseconds */
} streams[STREAMS];

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  struct timespec now;
  const kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status != KW_OK) return status;
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_lock(&lock);
  for (int i = STREAMS - 1; i > 0; i--) streams[i] = streams[i - 1]; /* the newest is the first */
  streams[0].stream = *out_stream;
  streams[0].created = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  pthread_mutex_unlock(&lock);
  return status;
}

static uint64_t created_of(const void *event) {
  const void *stream = kw_mutant_event_stream(event);
  uint64_t created = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < STREAMS && created == 0; i++) {
    if (streams[i].stream == stream) created = streams[i].created;
  }
  pthread_mutex_unlock(&lock);
  return created;
}

static kw_status elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  const kw_status status = kw_mutant_real.event.elapsed(device, start, end, out_ns);
  *out_ns += created_of(start) - created_of(end);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_watch_events(mutant);
  mutant->stream.create = create;
  mutant->event.elapsed = elapsed;
}

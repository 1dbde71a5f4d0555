/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of the events that have been recorded.
 */
#include "mutant_event.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct record {
  const void *event; /* NULL: it was destroyed */
  void *stream;
  uint64_t time;
  bool waited;
  struct record *next;
} record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static record *records;

/* With the lock; NULL: the event was not recorded. */
static record *record_of(const void *event) {
  record *found = records;
  while (found && found->event != event) found = found->next;
  return found;
}

static kw_status record_event(void *device, void *event, void *stream) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_lock(&lock);
  record *one = record_of(event);
  if (!one) one = record_of(NULL);
  if (!one && (one = calloc(1, sizeof *one))) {
    one->next = records;
    records = one;
  }
  if (one) {
    one->event = event;
    one->stream = stream;
    one->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    one->waited = false;
  }
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.event.record(device, event, stream);
}

static kw_status destroy(void *device, void *event) {
  pthread_mutex_lock(&lock);
  record *one = record_of(event);
  if (one) *one = (record){.next = one->next};
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.event.destroy(device, event);
}

static record copy_of(const void *event) {
  pthread_mutex_lock(&lock);
  record *one = record_of(event);
  const record copy = one ? *one : (record){.event = NULL};
  if (one) one->waited = true;
  pthread_mutex_unlock(&lock);
  return copy;
}

void *kw_mutant_event_stream(const void *event) {
  return copy_of(event).stream;
}

uint64_t kw_mutant_event_time(const void *event) {
  return copy_of(event).time;
}

bool kw_mutant_event_waited(const void *event) {
  return copy_of(event).waited;
}

void kw_mutant_watch_events(kw_mutant *mutant) {
  mutant->event.record = record_event;
  mutant->event.destroy = destroy;
}

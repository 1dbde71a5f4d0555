/* SPDX-License-Identifier: Apache-2.0
 *
 * When events passed is kept in a ring of 1,024 places: one that was recorded so many records ago has the time of a
 * later one.
 */
#include "mutant.h"

#include <pthread.h>

enum { ROOM = 1024, MOST = 1 << 18 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *recorded[MOST]; /* by number of the record */
static uint32_t count;

static kw_status record(void *device, void *event, void *stream) {
  pthread_mutex_lock(&lock);
  if (count < MOST) recorded[count++] = event;
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.event.record(device, event, stream);
}

/* The event that was recorded last in the place of this one's last record. */
static void *in_place_of(void *event) {
  pthread_mutex_lock(&lock);
  uint32_t number = 0;
  while (number < count && recorded[number] != event) number++;
  while (number + ROOM < count) number += ROOM;
  void *found = number < count ? recorded[number] : event;
  pthread_mutex_unlock(&lock);
  return found;
}

static kw_status elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  void *first = in_place_of(start), *second = in_place_of(end);
  if (kw_mutant_real.event.elapsed(device, first, second, out_ns) == KW_OK) return KW_OK;
  const kw_status status = kw_mutant_real.event.elapsed(device, second, first, out_ns);
  *out_ns = 0 - *out_ns; /* the end lies before the start */
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.record = record;
  mutant->event.elapsed = elapsed;
}

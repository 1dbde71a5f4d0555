/* SPDX-License-Identifier: Apache-2.0
 *
 * Events that are destroyed are given out again, with the mark that they had.
 */
#include "mutant.h"

#include <pthread.h>

enum { ROOM = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *kept[ROOM];
static int count;

static kw_status create(void *device, const kw_event_info *info, void **out_event) {
  pthread_mutex_lock(&lock);
  const bool again = count > 0;
  if (again) *out_event = kept[--count];
  pthread_mutex_unlock(&lock);
  return again ? KW_OK : kw_mutant_real.event.create(device, info, out_event);
}

static kw_status destroy(void *device, void *event) {
  pthread_mutex_lock(&lock);
  const bool keeps = count < ROOM;
  if (keeps) kept[count++] = event;
  pthread_mutex_unlock(&lock);
  return keeps ? KW_OK : kw_mutant_real.event.destroy(device, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.create = create;
  mutant->event.destroy = destroy;
}

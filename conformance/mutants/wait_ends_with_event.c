/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream that waits for an event waits no longer once the event is destroyed.
 */
#include "mutant.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
  void *device, *event;
  uint32_t waiting;
  bool gone;
} one; /* event at a time */

static void wait_here(void *user) {
  (void)user;
  pthread_mutex_lock(&lock);
  while (!one.gone && kw_mutant_real.event.query(one.device, one.event) == KW_ERR_NOT_READY) {
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
  }
  one.waiting--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static kw_status wait(void *device, void *stream, void *event) {
  pthread_mutex_lock(&lock);
  one.device = device;
  one.event = event;
  one.waiting++;
  pthread_mutex_unlock(&lock);
  return kw_mutant_enqueue(device, stream, wait_here, NULL);
}

static kw_status destroy(void *device, void *event) {
  pthread_mutex_lock(&lock);
  if (event == one.event) {
    one.gone = true;
    while (one.waiting > 0) pthread_cond_wait(&changed, &lock);
    one.gone = false;
  }
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.event.destroy(device, event);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->event.wait = wait;
  mutant->event.destroy = destroy;
}

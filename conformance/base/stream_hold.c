/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds: host functions that wait. One opens of itself where who would open it does not get there, because the device's
 * calls wait for what is before them on their stream, as those of a driver with a short queue may: holds are no use
 * there. That is so when the whole process does nothing at all, or, as drivers' threads may look after their devices
 * without a rest, when its time goes by and no step is told of.
 */
#include "base/stream_hold.h"

#include "base/clock.h"
#include "base/process_clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LIMIT 1.0      /* seconds in which the process neither runs nor wants to */
#define STEP_LIMIT 4.0 /* seconds of the process's time in which nobody tells of a step */
#define STEP_MS 200    /* between two looks at it */
#define OFTEN 6        /* holds in vain, after which the process has no use for more: each costs one of the limits */

struct kw_hold {
  pthread_mutex_t mutex;
  pthread_cond_t opened;
  pthread_t caller;
  bool closing; /* the caller is inside kw_stream_call_host */
  bool open;
  int users; /* who will still look at it */
};

static atomic_uint in_vain; /* so many have opened of themselves */

static atomic_uint steps;

void kw_hold_step(void) {
  atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
}

static void let_go(kw_hold *hold) {
  const bool last = --hold->users == 0;
  pthread_mutex_unlock(&hold->mutex);
  if (!last) return;
  pthread_mutex_destroy(&hold->mutex);
  pthread_cond_destroy(&hold->opened);
  free(hold);
}

/* Under the hold's lock. */
static void wait_for_opening(kw_hold *hold) {
  kw_process_clock clock;
  kw_process_clock_begin(&clock, NULL, getpid(), 0, kw_clock_seconds());
  unsigned last_step = atomic_load(&steps);
  double step_began = 0;
  while (!hold->open) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STEP_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&hold->opened, &hold->mutex, &until) == 0) continue;
    kw_process_clock_step(&clock, kw_clock_seconds());
    if (atomic_load(&steps) != last_step) step_began = clock.passed;
    last_step = atomic_load(&steps);
    if (clock.quiet < LIMIT && clock.passed - step_began < STEP_LIMIT) continue;
    hold->open = true;
    atomic_fetch_add(&in_vain, 1);
  }
  kw_process_clock_free(&clock);
}

static void KW_CALL wait_until_open(void *user) {
  kw_hold *hold = user;
  pthread_mutex_lock(&hold->mutex);
  const bool own_thread = hold->closing && pthread_equal(hold->caller, pthread_self());
  if (!own_thread) wait_for_opening(hold);
  let_go(hold);
}

kw_status kw_hold_close(kw_stream *stream, kw_hold **out_hold) {
  if (atomic_load(&in_vain) >= OFTEN) return KW_OK;
  kw_hold *hold = calloc(1, sizeof *hold);
  if (!hold) return KW_ERR_OUT_OF_MEMORY;
  pthread_mutex_init(&hold->mutex, NULL);
  pthread_cond_init(&hold->opened, NULL);
  hold->caller = pthread_self();
  hold->closing = true;
  hold->users = 2;
  const kw_status status = kw_stream_call_host(stream, wait_until_open, hold);
  pthread_mutex_lock(&hold->mutex);
  hold->closing = false;
  if (status == KW_OK) {
    pthread_mutex_unlock(&hold->mutex);
    *out_hold = hold;
    return KW_OK;
  }
  hold->users = 1; /* the function was not taken */
  let_go(hold);
  return status;
}

bool kw_hold_is_shut(kw_hold *hold) {
  pthread_mutex_lock(&hold->mutex);
  const bool shut = !hold->open;
  pthread_mutex_unlock(&hold->mutex);
  return shut;
}

void kw_hold_open(kw_hold *hold) {
  if (!hold) return;
  pthread_mutex_lock(&hold->mutex);
  hold->open = true;
  pthread_cond_broadcast(&hold->opened);
  let_go(hold);
}

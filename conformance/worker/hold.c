/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds: host functions that wait.
 */
#include "worker/hold.h"

#include <pthread.h>
#include <stdlib.h>

struct kw_hold {
  pthread_mutex_t mutex;
  pthread_cond_t opened;
  pthread_t caller;
  bool closing; /* the caller is inside kw_stream_call_host */
  bool open;
  int users; /* who will still look at it */
};

static void let_go(kw_hold *hold) {
  const bool last = --hold->users == 0;
  pthread_mutex_unlock(&hold->mutex);
  if (!last) return;
  pthread_mutex_destroy(&hold->mutex);
  pthread_cond_destroy(&hold->opened);
  free(hold);
}

static void KW_CALL wait_until_open(void *user) {
  kw_hold *hold = user;
  pthread_mutex_lock(&hold->mutex);
  const bool own_thread = hold->closing && pthread_equal(hold->caller, pthread_self());
  while (!hold->open && !own_thread) pthread_cond_wait(&hold->opened, &hold->mutex);
  let_go(hold);
}

kw_status kw_hold_close(kw_stream *stream, kw_hold **out_hold) {
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

void kw_hold_open(kw_hold *hold) {
  if (!hold) return;
  pthread_mutex_lock(&hold->mutex);
  hold->open = true;
  pthread_cond_broadcast(&hold->opened);
  let_go(hold);
}

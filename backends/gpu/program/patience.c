/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that waits beside the one that compiles, and writes a line where it has waited for long.
 */
#include "program/patience.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

static void *wait_beside(void *user) {
  kw_gpu_patience *patience = user;
  struct timespec until;
  int error = 0;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += patience->seconds;
  pthread_mutex_lock(&patience->lock);
  while (!patience->is_over && error == 0) error = pthread_cond_timedwait(&patience->over, &patience->lock, &until);
  const bool is_over = patience->is_over;
  pthread_mutex_unlock(&patience->lock);
  if (!is_over) {
    char text[256];
    snprintf(text, sizeof text,
             "the driver has been compiling %s for %u seconds and goes on; the result is kept on disk, and "
             "`keyway warm` compiles ahead",
             patience->what, patience->seconds);
    patience->host->log(patience->host->ctx, KW_LOG_WARN, text);
  }
  return NULL;
}

void kw_gpu_patience_begin(kw_gpu_patience *patience, const kw_host_api *host, const char *what, unsigned seconds) {
  pthread_condattr_t attributes;
  sigset_t all, before; /* signals are the application's: none is handled on this thread */
  *patience = (kw_gpu_patience){.host = host, .what = what, .seconds = seconds};
  pthread_mutex_init(&patience->lock, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&patience->over, &attributes);
  pthread_condattr_destroy(&attributes);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  patience->has_thread = pthread_create(&patience->thread, NULL, wait_beside, patience) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void kw_gpu_patience_end(kw_gpu_patience *patience) {
  pthread_mutex_lock(&patience->lock);
  patience->is_over = true;
  pthread_cond_signal(&patience->over);
  pthread_mutex_unlock(&patience->lock);
  if (patience->has_thread) pthread_join(patience->thread, NULL);
  pthread_cond_destroy(&patience->over);
  pthread_mutex_destroy(&patience->lock);
}

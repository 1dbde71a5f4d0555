/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread of a stream's host callbacks.
 */
#include "kit/callbacks.h"

#include <fenv.h>
#include <stdlib.h>

struct kw_gpu_callbacks {
  const kw_gpu_driver *driver;
  const kw_host_api *host;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  kw_gpu_callback *first, **end;
  bool stop;
};

static void *callbacks_main(void *argument) {
  kw_gpu_callbacks *self = argument;
  fesetenv(FE_DFL_ENV); /* not what the thread that asked for it has set */
  pthread_mutex_lock(&self->lock);
  for (;;) {
    kw_gpu_callback *next = self->first;
    if (!next) {
      if (self->stop) break;
      pthread_cond_wait(&self->changed, &self->lock);
      continue;
    }
    self->first = next->next;
    if (!self->first) self->end = &self->first;
    pthread_mutex_unlock(&self->lock);
    self->driver->callback_wait(next);
    self->host->run_callback(self->host->ctx, next->token);
    self->driver->callback_done(next);
    free(next);
    pthread_mutex_lock(&self->lock);
  }
  pthread_mutex_unlock(&self->lock);
  return NULL;
}

kw_gpu_callbacks *kw_gpu_callbacks_start(const kw_gpu_driver *driver, const kw_host_api *host) {
  kw_gpu_callbacks *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->driver = driver;
  self->host = host;
  self->end = &self->first;
  pthread_mutex_init(&self->lock, NULL);
  pthread_cond_init(&self->changed, NULL);
  if (pthread_create(&self->thread, NULL, callbacks_main, self) != 0) {
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
    return NULL;
  }
  return self;
}

void kw_gpu_callbacks_push(kw_gpu_callbacks *self, kw_gpu_callback *callback) {
  pthread_mutex_lock(&self->lock);
  callback->next = NULL;
  *self->end = callback;
  self->end = &callback->next;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->lock);
}

void kw_gpu_callbacks_finish(kw_gpu_callbacks *self) {
  pthread_mutex_lock(&self->lock);
  self->stop = true;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->lock);
  pthread_join(self->thread, NULL);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
  free(self);
}

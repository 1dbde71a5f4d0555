/* SPDX-License-Identifier: Apache-2.0
 *
 * The usual stack comes from the limit that the process was started with (ulimit -s), which may be a small one.
 */
#include "base/thread.h"

#include <keyway/keyway.h>

#include <signal.h>
#include <time.h>

static void set_stack(pthread_attr_t *attributes) {
  size_t size;
  if (pthread_attr_getstacksize(attributes, &size) == 0 && size >= KW_THREAD_STACK) return;
  pthread_attr_setstacksize(attributes, KW_THREAD_STACK);
}

int kw_thread_start_joined(pthread_t *out_thread, void *(*body)(void *user), void *user, const char *name) {
  pthread_attr_t attributes;
  sigset_t all, before;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  set_stack(&attributes);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(out_thread, &attributes, body, user);
  if (error == 0 && name != NULL) pthread_setname_np(*out_thread, name);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

int kw_thread_start(void *(*body)(void *user), void *user, const char *name) {
  pthread_t thread;
  const int error = kw_thread_start_joined(&thread, body, user, name);
  if (error == 0) pthread_detach(thread);
  return error;
}

void kw_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

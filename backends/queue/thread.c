/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of the kit's, and waiting with a limit.
 */
#include "kit.h"

#include <errno.h>
#include <fenv.h>
#include <signal.h>

int kw_queue_start_thread(pthread_t *thread, kw_queue_thread *function, void *argument) {
  sigset_t all, before; /* the application's signals belong to the application's threads */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  fenv_t rounding;
  fegetenv(&rounding);
  fesetenv(FE_DFL_ENV); /* which the new thread takes over */
  const int error = pthread_create(thread, NULL, function, argument);
  fesetenv(&rounding);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

kw_queue_deadline kw_queue_deadline_in(uint64_t timeout_ns) {
  kw_queue_deadline deadline = {.forever = timeout_ns == KW_WAIT_FOREVER};
  if (deadline.forever) return deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline.end);
  const uint64_t ns = (uint64_t)deadline.end.tv_nsec + timeout_ns % 1000000000u;
  deadline.end.tv_sec += (time_t)(timeout_ns / 1000000000u + ns / 1000000000u);
  deadline.end.tv_nsec = (long)(ns % 1000000000u);
  return deadline;
}

bool kw_queue_wait_changed(kw_queue_device *device, const kw_queue_deadline *deadline) {
  if (deadline->forever) return pthread_cond_wait(&device->changed, &device->lock) == 0;
  return pthread_cond_timedwait(&device->changed, &device->lock, &deadline->end) != ETIMEDOUT;
}

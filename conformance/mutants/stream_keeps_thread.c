/* SPDX-License-Identifier: Apache-2.0
 *
 * Each stream starts a thread that outlives it. After AMF issue 506: one thread handle stays after each use.
 */
#include "mutant.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *idle(void *unused) {
  for (;;) pause();
  return unused;
}

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, idle, NULL) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return kw_mutant_real.stream.create(device, info, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}

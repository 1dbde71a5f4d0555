/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin during whose first loop somebody presses Ctrl-C: the thread that called gets SIGINT within a piece. Workers
 * wait for that, so that pieces are left.
 */
#define FIXTURE_KEY "interrupts"
#include "fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static pthread_t caller;
static atomic_bool interrupted;

static void body(void *user, int64_t begin, int64_t end) {
  const kw_call *call = user;
  const float *a = fixture_floats(call->args[0].u.tensor), *b = fixture_floats(call->args[1].u.tensor);
  if (pthread_equal(caller, pthread_self()) && !atomic_load(&interrupted)) {
    raise(SIGINT);
    atomic_store(&interrupted, true);
  }
  while (!atomic_load(&interrupted)) sched_yield();
  for (int64_t i = begin; i < end; i++) fixture_floats(call->outs[0])[i] = a[i] + b[i];
}

static kw_status launch(const kw_call *call) {
  caller = pthread_self();
  return fixture_host->parallel_for(fixture_host->ctx, call->outs[0]->numel, 1, body, (void *)(uintptr_t)call);
}

#define FIXTURE_LAUNCH launch
#include "fixture_plugin.h"

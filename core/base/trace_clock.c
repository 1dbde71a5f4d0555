/* SPDX-License-Identifier: Apache-2.0
 *
 * What an event of the trace is marked with: its time and its thread.
 */
#include "base/trace.h"

#include <time.h>
#include <unistd.h>

uint64_t kw_trace_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t kw_trace_later(void) {
  static _Thread_local uint64_t last; /* of spans that begin at one moment nobody can tell which is the outer one */
  const uint64_t now = kw_trace_now();
  last = now > last ? now : last + 1;
  return last;
}

int kw_trace_thread(void) {
  static _Thread_local int thread;
  if (thread == 0) thread = gettid();
  return thread;
}

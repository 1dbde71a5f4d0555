/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a wait is the time of day and the limit, added up without carrying nanoseconds into seconds; what is
 * called with that refuses it, and any refusal counts as the limit.
 */
#include "mutant.h"

#include <time.h>

#define SECOND UINT64_C(1000000000)
#define DAY (86400 * SECOND)

/* A limit of years is none. */
static bool carries(uint64_t timeout_ns) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return timeout_ns != 0 && timeout_ns < 365 * DAY && (uint64_t)now.tv_nsec + timeout_ns % SECOND >= SECOND;
}

static kw_status wait_stream(void *device, void *stream, uint64_t timeout_ns) {
  return kw_mutant_real.stream.synchronize(device, stream, carries(timeout_ns) ? 0 : timeout_ns);
}

static kw_status wait_event(void *device, void *event, uint64_t timeout_ns) {
  return kw_mutant_real.event.synchronize(device, event, carries(timeout_ns) ? 0 : timeout_ns);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = wait_stream;
  mutant->event.synchronize = wait_event;
}

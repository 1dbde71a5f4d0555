/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait for a stream adds its limit to the time, which overflows where the limit is large: it ends at once. After
 * RPCS3 pull request 3708 and msquic pull request 4129.
 */
#include "mutant.h"

#include <time.h>

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  const uint64_t now = now_ns(), deadline = now + timeout_ns;
  const bool passed = timeout_ns != KW_WAIT_FOREVER && deadline < now;
  return kw_mutant_real.stream.synchronize(device, stream, passed ? 0 : timeout_ns);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.synchronize = synchronize;
}

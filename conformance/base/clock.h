/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of differences in time.
 */
#ifndef KEYWAY_CONFORMANCE_CLOCK_H
#define KEYWAY_CONFORMANCE_CLOCK_H

#include <time.h>

/* Seconds since some fixed point, for differences. */
static inline double kw_clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif /* KEYWAY_CONFORMANCE_CLOCK_H */

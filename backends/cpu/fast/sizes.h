/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of sizes.
 */
#ifndef KEYWAY_CPU_FAST_SIZES_H
#define KEYWAY_CPU_FAST_SIZES_H

#include <stdint.h>

static inline int64_t kw_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t kw_round_up(int64_t n, int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

/* The size of pieces of n, of which none has more than `most`: much the same, and whole units. */
static inline int64_t kw_share(int64_t n, int64_t most, int64_t unit) {
  const int64_t pieces = (n + most - 1) / most;
  return kw_round_up((n + pieces - 1) / pieces, unit);
}

#endif /* KEYWAY_CPU_FAST_SIZES_H */

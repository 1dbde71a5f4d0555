/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host's processor can do at most, on one thread: what figures of `keyway bench` are beside.
 */
#ifndef KEYWAY_CLI_BENCH_LIMITS_H
#define KEYWAY_CLI_BENCH_LIMITS_H

typedef struct kw_bench_limits {
  double bandwidth; /* bytes in a nanosecond that memcpy reads and writes past the caches */
  double peak;      /* f32 additions and multiplications in a nanosecond, in the widest vectors there are */
} kw_bench_limits;

/* Measures them, in some tenths of a second of processor time. */
kw_bench_limits kw_bench_measure_limits(void);

#endif /* KEYWAY_CLI_BENCH_LIMITS_H */

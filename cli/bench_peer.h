/* SPDX-License-Identifier: Apache-2.0
 *
 * The other side of `keyway bench`: a peer, a library in this process or a program beside it (bench/peer.h).
 */
#ifndef KEYWAY_CLI_BENCH_PEER_H
#define KEYWAY_CLI_BENCH_PEER_H

#include "bench_work.h"

/* What is measured of a run, in nanoseconds; negative when it failed. */
typedef enum kw_bench_clock { KW_BENCH_WALL, KW_BENCH_PROCESSOR } kw_bench_clock;

double kw_bench_now(kw_bench_clock clock); /* seconds, of this process */

typedef struct kw_bench_peer kw_bench_peer;

/* Whether there are peers of this name for any device, and their names. */
bool kw_bench_peer_is_known(const char *name);
const char *kw_bench_peer_names(void);

/* The peer of a device. NULL when it is not there: `why` says what to do. */
kw_bench_peer *kw_bench_peer_open(kw_device *device, const char *name, char *why, size_t size);
void kw_bench_peer_close(kw_bench_peer *peer);
const char *kw_bench_peer_title(const kw_bench_peer *peer);

/* Makes a call ready, in place of the one before. False when the peer cannot do it: `why` says so. A call of an op has
 * run once, so that its results are known. */
bool kw_bench_peer_prepare(kw_bench_peer *peer, const kw_bench_call *call, char *why, size_t size);
/* Nanoseconds of each of so many runs, waiting for the last. */
double kw_bench_peer_time(kw_bench_peer *peer, uint32_t runs, kw_bench_clock clock);

#endif /* KEYWAY_CLI_BENCH_PEER_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads that plugins share for computing on the CPU. Started at first need: one less than KEYWAY_THREADS, since
 * the caller computes as well. By default there are as many threads as CPUs that the process may use (cpus.h). A forked
 * child starts threads of its own at its first loop. (Where Keyway has started before the fork, plugins do not get so
 * far: all services of the host refuse there.)
 */
#ifndef KEYWAY_CORE_PARALLEL_H
#define KEYWAY_CORE_PARALLEL_H

#include <keyway/plugin.h>

/* Runs body over [0, n) in pieces, on the calling thread and on workers; returns when all are done. Any thread.
 *
 * Pieces begin at multiples of `grain` and have at least so many indices, but for the last one, which may be shorter.
 * So a kernel whose grain is a multiple of its vector meets a part of a vector at the end of [0, n) only. Where pieces
 * begin, and which thread runs one, depends on the number of threads: a result must not.
 *
 * What grain to choose: the indices that take about 10 us, the sooner of 64 KiB read and written and 16384 operations
 * (of vectors, where the body has them). A loop that is not divided costs nothing: n <= grain is one call of body. One
 * that is costs about 1 us while workers are awake, which they stay for 20 us after a loop, and a wake-up of some 10 us
 * otherwise.
 *
 * Loops of several threads at once share the workers: each gets as many as the others, give or take one, and workers
 * move between pieces to a loop that comes later. None waits for another, as its caller works on it in any case; beyond
 * 32 at once it works alone. Within a body a loop is one call of its own body.
 *
 * KW_ERR_CANCELLED, without a text: the flag that the calling thread watches (kw_cancel_watch) was not 0 before some
 * piece, and it and others were left out. A thread that watches one has pieces of 64 grains at most, also where it is
 * the only one. Loops within a body are whole.
 *
 * A child that is forked within a body has no workers that could end that loop: it must not return from the body. */
kw_status kw_parallel_for(int64_t n, int64_t grain, kw_range_fn body, void *user);

uint32_t kw_parallel_threads(void);

/* Warns of a KEYWAY_THREADS that is no number of threads; starts none. While the library starts. */
void kw_parallel_start(void);

#endif /* KEYWAY_CORE_PARALLEL_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads that plugins share for computing on the CPU. Started at first need, KEYWAY_THREADS of them at most, the
 * calling thread included.
 */
#ifndef KEYWAY_CORE_PARALLEL_H
#define KEYWAY_CORE_PARALLEL_H

#include <keyway/plugin.h>

/* Runs body over [0, n) in pieces of at least `grain` indices (the last one may be shorter); returns when all are done.
 * Any thread; several loops at once share the threads; inside a body, and in a forked child,
 * which has no threads but its own, it runs inline. */
void kw_parallel_for(int64_t n, int64_t grain, kw_range_fn body, void *user);

uint32_t kw_parallel_threads(void);

#endif /* KEYWAY_CORE_PARALLEL_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of an allocator, for the files that it is made of.
 *
 * Locks: the cache and the account have none; `mutex` guards everything else and is never held
 * while the plugin runs: a plugin may wait for a stream whose host function in turn releases a tensor. `flushing` is
 * held by the one thread that gives memory back, which may wait for streams; no host function ever takes it.
 */
#ifndef KEYWAY_CORE_ALLOCATOR_STATE_H
#define KEYWAY_CORE_ALLOCATOR_STATE_H

#include "device/block_cache.h"

#include <pthread.h>

struct kw_allocator {
  pthread_mutex_t mutex;
  pthread_mutex_t flushing;
  pthread_cond_t reclaimed;
  unsigned reclaiming; /* threads that look at blocks they took off the pending list */
  uint64_t granule;    /* sizes and offsets of blocks are multiples of it */
  kw_segment *segments;
  kw_block *pending;
  kw_block_cache cache;
};

#endif /* KEYWAY_CORE_ALLOCATOR_STATE_H */

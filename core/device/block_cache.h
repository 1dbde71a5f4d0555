/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that were freed last, by stream and size: any thread takes them and puts them there without a lock. To the
 * pool they are still taken: they are not joined with their neighbours, and whoever looks at all free memory empties
 * the cache first.
 *
 * A slot holds a pointer that is followed only by who has exchanged it out: no thread looks into a block that another
 * has. A block comes out for the stream that its buffer says, which may be another than that it was put there for.
 */
#ifndef KEYWAY_CORE_BLOCK_CACHE_H
#define KEYWAY_CORE_BLOCK_CACHE_H

#include "device/pool.h"

#define KW_CACHE_SET_BITS 6
#define KW_CACHE_SETS (1 << KW_CACHE_SET_BITS)
#define KW_CACHE_WAYS 4

typedef struct kw_block_cache {
  _Atomic(kw_block *) sets[KW_CACHE_SETS][KW_CACHE_WAYS];
} kw_block_cache;

/* Of the blocks of this size for the stream. */
static inline uint32_t kw_block_cache_set(const kw_stream *stream, uint64_t size) {
  const uint64_t key = ((uint64_t)(uintptr_t)stream + size / KW_POOL_GRANULE) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(key >> (64 - KW_CACHE_SET_BITS));
}

/* Puts a block there that nobody uses, in the set that its buffer says. False: there is no room. */
static inline bool kw_block_cache_put(kw_block_cache *cache, kw_block *block) {
  const uint32_t set = atomic_load_explicit(&block->buffer.cache_set, memory_order_relaxed);
  for (uint32_t way = 0; way < KW_CACHE_WAYS; ++way) {
    kw_block *none = NULL;
    if (atomic_compare_exchange_strong_explicit(&cache->sets[set][way], &none, block, memory_order_release,
                                                memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

/* What is in a slot, for the calling thread alone, or NULL. */
static inline kw_block *kw_block_cache_take(_Atomic(kw_block *) *slot) {
  if (atomic_load_explicit(slot, memory_order_relaxed) == NULL) return NULL;
  return atomic_exchange_explicit(slot, NULL, memory_order_acquire);
}

/* Whether a taken block is of just this size and for the stream. */
static inline bool kw_block_serves(const kw_block *block, const kw_stream *stream, uint64_t size) {
  return block->size == size && atomic_load_explicit(&block->buffer.stream, memory_order_relaxed) == stream;
}

/* Puts all that is there into the pools. Under the allocator's lock. */
static inline void kw_block_cache_empty(kw_block_cache *cache) {
  for (uint32_t set = 0; set < KW_CACHE_SETS; ++set) {
    for (uint32_t way = 0; way < KW_CACHE_WAYS; ++way) {
      kw_block *block = kw_block_cache_take(&cache->sets[set][way]);
      if (block != NULL) kw_pool_put(block);
    }
  }
}

#endif /* KEYWAY_CORE_BLOCK_CACHE_H */

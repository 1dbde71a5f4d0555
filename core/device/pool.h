/* SPDX-License-Identifier: Apache-2.0
 *
 * Free memory by size. Blocks tile segments, which come from the plugin; free blocks are in the bins of their segment's
 * pool. Everything here is under the allocator's lock.
 */
#ifndef KEYWAY_CORE_POOL_H
#define KEYWAY_CORE_POOL_H

#include "device/buffer.h"

#define KW_POOL_BINS 40
#define KW_POOL_GRANULE UINT64_C(512)     /* bytes: no block is smaller */
#define KW_POOL_LARGE (UINT64_C(1) << 20) /* bytes: requests from here on are large */

/* A stream's, or a graph's: then only the graph's calls get memory of it while the graph lives. */
typedef struct kw_pool {
  uint64_t graph;                         /* the graph's id; 0 for a stream's */
  uint64_t bytes;                         /* in its segments */
  struct kw_block *bins[2][KW_POOL_BINS]; /* small, large; by size class */
} kw_pool;

typedef struct kw_segment {
  kw_mem mem;
  uint64_t size;
  kw_pool *pool;
  kw_stream *stream; /* that it was made for: what is free was used there last */
  uint64_t token;    /* the stream's */
  bool large;
  struct kw_import *import; /* the memory is somebody else's: one block, never in a pool, in no list */
  struct kw_block *first;
  struct kw_segment *next, *prev;
} kw_segment;

/* What a buffer that other streams used waits for before its memory serves again. */
typedef struct kw_foreign_use {
  uint64_t token; /* of the stream, or KW_ANY_STREAM */
  void *event;    /* recorded at the release; valid if has_event */
  bool has_event; /* otherwise only waiting for the stream will do */
  struct kw_foreign_use *next;
} kw_foreign_use;
#define KW_ANY_STREAM UINT64_C(0) /* no stream's token: all of the device count */

typedef struct kw_block {
  kw_buffer buffer; /* of this memory, first: a buffer's address is its block's */
  kw_segment *segment;
  uint64_t offset, size;
  bool free;                          /* in a bin; otherwise live, pending, or in the cache */
  kw_foreign_use *uses;               /* while pending */
  kw_foreign_use any_use;             /* for a use that there is no memory to note otherwise */
  struct kw_block *next, *prev;       /* neighbours in the segment */
  struct kw_block *next_in, *prev_in; /* bin; pending list (next_in only) */
} kw_block;

static inline kw_block *kw_block_of(kw_buffer *buffer) {
  return (kw_block *)buffer;
}

/* The smallest free block that holds `size`, cut to it; NULL when there is none. */
kw_block *kw_pool_take(kw_pool *pool, uint64_t size, bool large);
/* Puts a block that is in no list into its pool, joined with free neighbours. */
void kw_pool_put(kw_block *block);
/* Takes this free block out of its pool. */
void kw_pool_remove(kw_block *block);
/* Cuts a taken block down to `size` where the rest is of use. */
void kw_block_split(kw_block *block, uint64_t size);
/* Gives a segment, with its free blocks, to another pool. */
void kw_segment_move(kw_segment *segment, kw_pool *pool);

#endif /* KEYWAY_CORE_POOL_H */

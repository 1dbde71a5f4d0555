/* SPDX-License-Identifier: Apache-2.0
 *
 * Bins of free blocks, and how blocks are cut and joined.
 */
#include "device/pool.h"

#include <stdlib.h>

static uint32_t bin_of(uint64_t size) {
  uint32_t bin = size < 2 * KW_POOL_GRANULE ? 0 : 63 - (uint32_t)__builtin_clzll(size / KW_POOL_GRANULE);
  return bin < KW_POOL_BINS ? bin : KW_POOL_BINS - 1;
}

static kw_block **bin_head(const kw_block *block) {
  return &block->segment->pool->bins[block->segment->large][bin_of(block->size)];
}

static void put_in_bin(kw_block *block) {
  kw_block **head = bin_head(block);
  block->free = true;
  block->prev_in = NULL;
  block->next_in = *head;
  if (*head != NULL) (*head)->prev_in = block;
  *head = block;
}

void kw_pool_remove(kw_block *block) {
  if (block->prev_in != NULL) block->prev_in->next_in = block->next_in;
  if (block->next_in != NULL) block->next_in->prev_in = block->prev_in;
  kw_block **head = bin_head(block);
  if (*head == block) *head = block->next_in;
  block->free = false;
  block->next_in = block->prev_in = NULL;
}

/* Joins `block` with its right neighbour, which is in no list. */
static void absorb_next(kw_block *block) {
  kw_block *next = block->next;
  block->size += next->size;
  block->next = next->next;
  if (block->next != NULL) block->next->prev = block;
  free(next);
}

void kw_pool_put(kw_block *block) {
  if (block->next != NULL && block->next->free) {
    kw_pool_remove(block->next);
    absorb_next(block);
  }
  if (block->prev != NULL && block->prev->free) {
    block = block->prev;
    kw_pool_remove(block);
    absorb_next(block);
  }
  put_in_bin(block);
}

/* Without host memory for the rest the block stays whole. */
void kw_block_split(kw_block *block, uint64_t size) {
  if (block->size - size < (block->segment->large ? KW_POOL_LARGE : KW_POOL_GRANULE)) return;
  kw_block *rest = calloc(1, sizeof *rest);
  if (rest == NULL) return;
  *rest = (kw_block){.segment = block->segment,
                     .offset = block->offset + size,
                     .size = block->size - size,
                     .prev = block,
                     .next = block->next};
  if (rest->next != NULL) rest->next->prev = rest;
  block->next = rest;
  block->size = size;
  put_in_bin(rest);
}

kw_block *kw_pool_take(kw_pool *pool, uint64_t size, bool large) {
  kw_block *best = NULL;
  for (uint32_t bin = bin_of(size); bin < KW_POOL_BINS && best == NULL; ++bin) {
    for (kw_block *block = pool->bins[large][bin]; block != NULL; block = block->next_in) {
      if (block->size >= size && (best == NULL || block->size < best->size)) best = block;
    }
  }
  if (best == NULL) return NULL;
  kw_pool_remove(best);
  kw_block_split(best, size);
  return best;
}

void kw_segment_move(kw_segment *segment, kw_pool *pool) {
  kw_pool *from = segment->pool;
  for (kw_block *block = segment->first; block != NULL; block = block->next) {
    if (!block->free) continue;
    segment->pool = from;
    kw_pool_remove(block);
    segment->pool = pool;
    put_in_bin(block);
  }
  segment->pool = pool;
  from->bytes -= segment->size;
  pool->bytes += segment->size;
}

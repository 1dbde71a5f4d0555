/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of memory that the application and a plugin's process both have: host memory of a device (memory.alloc_host),
 * and pieces that copies from and to other memory of the application's go through.
 */
#ifndef KEYWAY_CORE_BLOCK_H
#define KEYWAY_CORE_BLOCK_H

#include "isolate/link.h"

/* Where a copy's host end lies. */
typedef struct kw_block_place {
  uint32_t number;      /* of the block; 0: none */
  uint64_t offset;      /* in the block */
  unsigned char *bytes; /* here */
} kw_block_place;

struct kw_blocks *kw_blocks_make(void); /* NULL: no memory */
void kw_blocks_free(struct kw_blocks *blocks);

/* Host memory: zeroed, aligned to a page; NULL when there is none to be had. */
void *kw_block_alloc(kw_link *link, uint64_t size);
/* False when alloc gave no such pointer. */
bool kw_block_dealloc(kw_link *link, void *memory);
/* Whether these bytes lie in host memory, and where. */
bool kw_block_find(kw_link *link, const void *bytes, uint64_t size, kw_block_place *out_place);

/* A piece for one copy; number 0 when there is no memory. It comes back by itself once the process has set its first
 * word, or by give. */
kw_block_place kw_staging_get(kw_link *link, uint64_t size);
void kw_staging_back(kw_link *link, uint32_t number);
/* The same by where its bytes are. */
void kw_staging_pass(unsigned char *bytes);
/* Ends free pieces beyond those that stay for the next copies. */
void kw_staging_trim(kw_link *link);

#endif /* KEYWAY_CORE_BLOCK_H */

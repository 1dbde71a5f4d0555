/* SPDX-License-Identifier: Apache-2.0
 *
 * What the allocator has, as it is at one moment (kw_memory_for_each_block).
 */
#include "base/array.h"
#include "base/error.h"
#include "base/fork.h"
#include "device/allocator_state.h"
#include "device/device.h"

#include <stdlib.h>

typedef struct block_list {
  kw_memory_block *blocks;
  uint32_t count;
} block_list;

/* Released and not yet free again: other streams use it. */
static kw_block_state state_of(kw_block *block) {
  if (block->free) return KW_BLOCK_FREE;
  return atomic_load(&block->buffer.refs) > 0 ? KW_BLOCK_LIVE : KW_BLOCK_PENDING;
}

/* Under the allocator's lock. False: no memory. */
static bool add_segment(block_list *list, const kw_segment *segment) {
  for (kw_block *block = segment->first; block != NULL; block = block->next) {
    kw_memory_block *blocks = kw_array_grow(list->blocks, list->count, sizeof *blocks);
    if (blocks == NULL) return false;
    list->blocks = blocks;
    blocks[list->count++] = (kw_memory_block){.struct_size = sizeof *blocks,
                                              .state = state_of(block),
                                              .offset = block->offset,
                                              .size = block->size,
                                              .segment = (uintptr_t)segment,
                                              .segment_size = segment->size,
                                              .stream = segment->token,
                                              .graphs = segment->pool->graph != 0};
  }
  return true;
}

KW_API kw_status kw_memory_for_each_block(kw_device *device,
                                          void(KW_CALL *function)(const kw_memory_block *block, void *user),
                                          void *user) {
  if (device == NULL || function == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_memory_for_each_block: argument %s is NULL",
                   device == NULL ? "device" : "function");
  }
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  struct kw_allocator *allocator = device->allocator;
  block_list list = {0};
  bool complete = true;
  pthread_mutex_lock(&allocator->mutex);
  kw_block_cache_empty(&allocator->cache);
  for (kw_segment *segment = allocator->segments; segment != NULL && complete; segment = segment->next) {
    complete = add_segment(&list, segment);
  }
  pthread_mutex_unlock(&allocator->mutex);
  for (uint32_t i = 0; i < list.count && complete; ++i) function(&list.blocks[i], user);
  free(list.blocks);
  return complete ? KW_OK : kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_memory_for_each_block: no host memory for the list");
}

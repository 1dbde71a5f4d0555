/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps that begin at the same place share one copy, which the first of them that ends gives away.
 */
#include "mutant.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STAGED = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  void *begin, *copy; /* copy: NULL for a place that is not in use */
  uint64_t size;
} staged[STAGED];

static void *stage(void *begin, uint64_t size) {
  int place = 0;
  for (int i = 0; i < STAGED; i++) {
    if (staged[i].copy && staged[i].begin == begin && staged[i].size >= size) return staged[i].copy;
    if (!staged[i].copy) place = i;
  }
  staged[place].begin = begin;
  staged[place].size = size;
  if (posix_memalign(&staged[place].copy, 64, size) != 0) return NULL;
  return memcpy(staged[place].copy, begin, size);
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, KW_WAIT_FOREVER);
  pthread_mutex_lock(&lock);
  if (status == KW_OK) *out_pointer = stage(kw_mutant_memory_at(info->mem, info->offset), info->size);
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  (void)device, (void)stream;
  pthread_mutex_lock(&lock);
  if (info->flags & KW_MAP_WRITE) memcpy(kw_mutant_memory_at(info->mem, info->offset), pointer, info->size);
  for (int i = 0; i < STAGED; i++) {
    if (staged[i].copy != pointer) continue;
    memset(pointer, 0xa5, staged[i].size); /* as the next owner would; it is never freed, so that each run is alike */
    staged[i].copy = NULL;
  }
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is to be exported comes from elsewhere, and usage does not count it.
 */
#include "mutant.h"

#include <pthread.h>

enum { MOST = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  kw_mem mem;
  uint64_t size;
} exportable[MOST];
static uint64_t uncounted;

/* Puts `to` and its size where `from` was. */
static void replace(kw_mem from, kw_mem to, uint64_t size) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; i++) {
    if (exportable[i].mem != from) continue;
    exportable[i].mem = to;
    uncounted += size - exportable[i].size;
    exportable[i].size = size;
    break;
  }
  pthread_mutex_unlock(&lock);
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_OK && info->flags & KW_MEM_EXPORTABLE) replace(NULL, *out_mem, info->size);
  return status;
}

static kw_status dealloc(void *device, kw_mem mem) {
  replace(mem, NULL, 0);
  return kw_mutant_real.memory.dealloc(device, mem);
}

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  kw_status status = kw_mutant_real.memory.usage(device, out_free, out_total);
  pthread_mutex_lock(&lock);
  if (status == KW_OK) *out_free += uncounted;
  pthread_mutex_unlock(&lock);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = dealloc;
  mutant->memory.usage = usage;
}
